#pragma once
// Token ids, lengths and positions: integers with a shape, which no arithmetic touches and no gradient reaches.

#include <memory>
#include <span>
#include <vector>

#include "core/error.h"
#include "core/shape.h"

namespace tapestry {

/// Row-major integers. Copies share them; they do not change once made.
class Ids {
 public:
  Ids() = default;
  /// Errors: as many values as the shape has elements.
  Ids(std::vector<std::int32_t> values, const Shape& shape)
      : values_(std::make_shared<const std::vector<std::int32_t>>(std::move(values))), shape_(shape) {
    require(static_cast<Index>(values_->size()) == shape.numel(), "ids: {} needs {} values; given {}", shape,
            shape.numel(), values_->size());
  }
  /// A vector of ids: shape [n].
  explicit Ids(std::vector<std::int32_t> values) : shape_{static_cast<Index>(values.size())} {
    values_ = std::make_shared<const std::vector<std::int32_t>>(std::move(values));
  }

  explicit operator bool() const { return values_ != nullptr; }
  const Shape& shape() const { return shape_; }
  Index numel() const { return values_ ? static_cast<Index>(values_->size()) : 0; }
  Index size(int axis) const { return shape_[axis]; }
  std::span<const std::int32_t> values() const {
    return values_ ? std::span<const std::int32_t>(*values_) : std::span<const std::int32_t>();
  }
  std::int32_t operator[](Index index) const { return (*values_)[static_cast<std::size_t>(index)]; }

  /// Column t of ids [B,T]: ids [B], the tokens of one time step.
  Ids column(Index t) const {
    require(shape_.rank() == 2 && 0 <= t && t < shape_[1], "ids: column {} of a matrix wanted; given {}", t, shape_);
    std::vector<std::int32_t> column(static_cast<std::size_t>(shape_[0]));
    for (Index b = 0; b < shape_[0]; ++b) column[static_cast<std::size_t>(b)] = (*this)[b * shape_[1] + t];
    return Ids(std::move(column));
  }

 private:
  std::shared_ptr<const std::vector<std::int32_t>> values_;
  Shape shape_;
};

}  // namespace tapestry
