#pragma once
// Shapes: up to six sizes, stored inline.
//
// Shape letters used throughout: B batch, S source length, T target length, D model width, H heads, K head width,
// F feed-forward width, E embedding width, V vocabulary. Layouts are row-major: the last axis is contiguous.

#include <fmt/format.h>

#include <array>
#include <initializer_list>
#include <span>
#include <string>

#include "core/dtype.h"

namespace tapestry {

/// The sizes of a tensor's axes, outermost first. Rank 0 is a scalar of one element.
class Shape {
 public:
  static constexpr int max_rank = 6;

  Shape() = default;
  Shape(std::initializer_list<Index> sizes) : Shape(std::span(sizes.begin(), sizes.size())) {}
  /// Errors: more than six axes, or a negative size.
  explicit Shape(std::span<const Index> sizes);

  int rank() const { return rank_; }
  Index numel() const;
  /// The size of an axis; negative axes count from the end. Errors: no such axis.
  Index operator[](int axis) const { return sizes_[static_cast<std::size_t>(this->axis(axis))]; }
  /// The axis as a number in [0, rank). Errors: no such axis.
  int axis(int axis) const {
    const int positive = axis < 0 ? axis + rank_ : axis;
    if (positive < 0 || positive >= rank_) no_axis(axis);
    return positive;
  }

  const Index* begin() const { return sizes_.data(); }
  const Index* end() const { return sizes_.data() + rank_; }

  /// This shape with one size replaced, removed or inserted before `axis`.
  Shape with(int axis, Index size) const;
  Shape without(int axis) const;
  Shape inserted(int axis, Index size) const;

  bool operator==(const Shape& other) const = default;

  /// As in messages: "[2, 3]".
  std::string text() const;

 private:
  [[noreturn]] void no_axis(int axis) const;
  std::array<Index, max_rank> sizes_{};  // zero beyond rank_, so that == may compare all of it
  int rank_ = 0;
};

/// The shape two operands have together under broadcasting: aligned at the last axis, sizes equal or one of them 1.
/// Errors name `op` and both shapes.
Shape broadcast(const char* op, const Shape& a, const Shape& b);

}  // namespace tapestry

/// A shape in a message: `require(holds, "op: ... given {}", x.shape())` writes its text only when it is needed.
template <>
struct fmt::formatter<tapestry::Shape> : fmt::formatter<std::string> {
  template <class Context>
  auto format(const tapestry::Shape& shape, Context& context) const {
    return fmt::formatter<std::string>::format(shape.text(), context);
  }
};
