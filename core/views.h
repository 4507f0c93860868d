#pragma once
// Reading and writing a tensor in another order: permute, slice, flip, expand and their gradients are one kernel pair.

#include "core/tensor.h"
#include "core/walk.h"

namespace tapestry::core {

/// Which element of a tensor stands where in a rearranged one of `shape`: element (i, j, ...) is the tensor's
/// `offset + i * strides[0] + j * strides[1] + ...`.
struct View {
  Shape shape;
  Strides strides{};
  Index offset = 0;
};

/// The tensor as it is. Rearrangements change it axis by axis.
View whole(const Shape& shape);
/// Elements begin, begin + step, ... before end of one axis; begin and end count from the end where negative.
/// Errors name `op`: a step below 1, or a range outside the axis.
View sliced(const char* op, const Shape& shape, int axis, Index begin, Index end, Index step);

/// The elements of x in the order of the view.
Tensor read_view(const Tensor& x, const View& view);
/// x at the view = y: the write that `read_view` would read back.
void write_view(const Tensor& x, const View& view, const Tensor& y);
/// x at the view += y: the gradient of `read_view`.
void add_view(const Tensor& x, const View& view, const Tensor& y);

/// x repeated along the axes where `shape` is larger. Errors name `op`: x does not broadcast to it.
Tensor broadcast_to(const char* op, const Tensor& x, const Shape& shape);

}  // namespace tapestry::core
