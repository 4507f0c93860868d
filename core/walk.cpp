#include "core/walk.h"

namespace tapestry::core {

Strides strides_of(const Shape& shape) {
  Strides strides{};
  Index stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    strides[static_cast<std::size_t>(axis)] = stride;
    stride *= shape[axis];
  }
  return strides;
}

Strides broadcast_strides(const Shape& shape, const Shape& result) {
  const Strides own = strides_of(shape);
  const int missing = result.rank() - shape.rank();
  Strides strides{};
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (shape[axis] == result[axis + missing])
      strides[static_cast<std::size_t>(axis + missing)] = own[static_cast<std::size_t>(axis)];
  return strides;
}

StridedWalk::StridedWalk(const Shape& shape, std::initializer_list<Strides> operands) : operands_(operands.size()) {
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    const Index size = shape[axis];
    if (size == 1) continue;
    // Two axes walk as one where stepping over the inner one's end is a step of the outer one.
    bool merges = axes_ > 0;
    for (std::size_t o = 0; o < operands_; ++o) {
      strides_[o][axes_] = operands.begin()[o][static_cast<std::size_t>(axis)];
      merges = merges && strides_[o][axes_] == strides_[o][axes_ - 1] * sizes_[axes_ - 1];
    }
    if (merges) {
      sizes_[axes_ - 1] *= size;
    } else {
      sizes_[axes_++] = size;
    }
  }
  if (axes_ == 0) sizes_[axes_++] = 1;  // one element: its steps are never taken
  runs_ = shape.numel() / (sizes_[0] > 0 ? sizes_[0] : 1);
}

void StridedWalk::carry() {
  for (std::size_t axis = 1; axis < axes_; ++axis) {
    for (std::size_t o = 0; o < operands_; ++o) offsets_[o] += strides_[o][axis];
    if (++position_[axis] < sizes_[axis]) return;
    for (std::size_t o = 0; o < operands_; ++o) offsets_[o] -= strides_[o][axis] * sizes_[axis];
    position_[axis] = 0;
  }
}

}  // namespace tapestry::core
