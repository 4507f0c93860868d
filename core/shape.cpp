#include "core/shape.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.h"

namespace tapestry {

Shape::Shape(std::span<const Index> sizes) : rank_(static_cast<int>(sizes.size())) {
  require(sizes.size() <= max_rank, "shape: at most {} axes; given {}", max_rank, sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    require(sizes[i] >= 0, "shape: sizes must not be negative; given {}", sizes[i]);
    sizes_[i] = sizes[i];
  }
}

Index Shape::numel() const {
  Index n = 1;
  for (Index size : *this) n *= size;
  return n;
}

void Shape::no_axis(int axis) const {
  fail(fmt::format("shape: axis must lie in [{}, {}) of {}; given {}", -rank_, rank_, *this, axis));
}

Shape Shape::with(int axis, Index size) const {
  Shape result = *this;
  result.sizes_[static_cast<std::size_t>(this->axis(axis))] = size;
  return result;
}

Shape Shape::without(int axis) const {
  Shape result = *this;
  const int gone = this->axis(axis);
  std::copy(begin() + gone + 1, end(), result.sizes_.begin() + gone);
  result.sizes_[static_cast<std::size_t>(--result.rank_)] = 0;
  return result;
}

Shape Shape::inserted(int axis, Index size) const {
  const int position = axis < 0 ? axis + rank_ + 1 : axis;
  require(position >= 0 && position <= rank_, "shape: a new axis of {} must lie in [{}, {}]; given {}", *this,
          -rank_ - 1, rank_, axis);
  require(rank_ < max_rank, "shape: at most {} axes; given {}", max_rank, rank_ + 1);
  Shape result = *this;
  std::copy_backward(begin() + position, end(), result.sizes_.begin() + rank_ + 1);
  result.sizes_[static_cast<std::size_t>(position)] = size;
  ++result.rank_;
  return result;
}

std::string Shape::text() const {
  return fmt::format("[{}]", fmt::join(begin(), end(), ", "));
}

Shape broadcast(const char* op, const Shape& a, const Shape& b) {
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  Shape result = longer;
  for (int axis = 1; axis <= shorter.rank(); ++axis) {
    const Index x = longer[-axis], y = shorter[-axis];
    require(x == y || x == 1 || y == 1, "{}: shapes must broadcast (sizes equal or 1, from the last axis); {} and {}",
            op, a, b);
    if (x == 1) result = result.with(-axis, y);
  }
  return result;
}

}  // namespace tapestry
