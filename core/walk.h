#pragma once
// Walking tensors that are laid out differently over the elements of one shape.

#include <array>
#include <initializer_list>

#include "core/shape.h"

namespace tapestry::core {

/// How far apart in memory neighbours along each axis are, in elements.
using Strides = std::array<Index, Shape::max_rank>;

/// Of a row-major tensor.
Strides strides_of(const Shape& shape);
/// Of a tensor of `shape` read as if it were as large as `result`: 0 along the axes where it is repeated.
Strides broadcast_strides(const Shape& shape, const Shape& result);

/// A walk over the elements of `shape` in row-major order by runs of equal steps: within a run, operand o moves by
/// step(o) from element to element. Axes that all operands walk as one are merged, so runs are as long as they can be.
///
///   for (StridedWalk walk(shape, {a_strides, b_strides}); walk.more(); walk.next())
///     ... walk.run() elements, at a + walk.offset(0) + i * walk.step(0) ...
class StridedWalk {
 public:
  static constexpr std::size_t max_operands = 3;
  StridedWalk(const Shape& shape, std::initializer_list<Strides> operands);

  bool more() const { return runs_ > 0; }
  void next() {
    --runs_;
    if (axes_ == 2) {  // rows of one distance: nothing is carried over
      for (std::size_t o = 0; o < operands_; ++o) offsets_[o] += strides_[o][1];
    } else {
      carry();
    }
  }
  Index run() const { return sizes_[0]; }
  Index step(std::size_t operand) const { return strides_[operand][0]; }
  Index offset(std::size_t operand) const { return offsets_[operand]; }

 private:
  void carry();
  std::size_t operands_, axes_ = 0;
  // Merged axes, from the innermost outwards.
  std::array<Index, Shape::max_rank> sizes_{}, position_{};
  std::array<Strides, max_operands> strides_{};
  std::array<Index, max_operands> offsets_{};
  Index runs_;  // still to do
};

}  // namespace tapestry::core
