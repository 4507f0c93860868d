#pragma once
// Differentiable rearrangements. Axes, indices and bounds count from the end where negative. `reshape` shares memory
// with its input, everything else copies.

#include <vector>

#include "autograd/var.h"
#include "core/ids.h"

namespace tapestry {

/// The same elements in row-major order in another shape; one size may be -1 and is inferred.
Var reshape(const Var& x, std::initializer_list<Index> sizes);
Var reshape(const Var& x, const Shape& shape);
/// Axis i of the result is axis axes[i] of x. Errors: not each axis once.
Var permute(const Var& x, const std::vector<int>& axes);
/// x with two axes exchanged.
Var transpose(const Var& x, int a, int b);
/// x repeated along new leading axes and axes of size 1. Errors: x does not broadcast to the shape.
Var expand(const Var& x, const Shape& shape);
/// The whole of x repeated counts[i] times along axis i (numpy's tile). Errors: as many counts as axes.
Var repeat(const Var& x, const std::vector<Index>& counts);
/// The order of elements along some axes reversed.
Var flip(const Var& x, const std::vector<int>& axes);
/// Elements moved by `places` along an axis, those pushed out coming in at the other end.
Var roll(const Var& x, Index places, int axis);
/// `before` and `after` more elements of `value` along an axis.
Var pad(const Var& x, int axis, Index before, Index after, double value = 0);
/// The lower, the upper triangle of the last two axes (columns up to, from row + diagonal); the rest is 0.
Var tril(const Var& x, Index diagonal = 0);
Var triu(const Var& x, Index diagonal = 0);

/// Tensors one behind the other along an axis. Errors: none given, or other axes differ.
Var concat(const std::vector<Var>& parts, int axis);
/// Tensors of one shape along a new axis. Errors: none given, or shapes differ.
Var stack(const std::vector<Var>& parts, int axis);
/// The parts of these sizes along an axis. Errors: the sizes do not add up to the axis.
std::vector<Var> split(const Var& x, const std::vector<Index>& sizes, int axis);
/// Elements begin, begin + step, ... before end. Errors: out of range, or a step below 1.
Var slice(const Var& x, int axis, Index begin, Index end, Index step = 1);
/// One element of an axis, which goes. Errors: out of range.
Var select(const Var& x, int axis, Index index);

}  // namespace tapestry
