#include "nn/positional_encoding.h"

#include <algorithm>
#include <cmath>

namespace tapestry {

PositionalEncoding::PositionalEncoding(Index width, DType dtype) : width_(width), dtype_(dtype) {
  require(width >= 2 && width % 2 == 0,
          "positional_encoding: the width must be even, for sines and cosines come in pairs; given {}", width);
}

Tensor PositionalEncoding::operator()(Index first, Index count) const {
  const std::lock_guard lock(growing_);
  const Index known = table_ ? table_.size(0) : 0;
  if (first + count > known) {
    // Whoever still reads the old table keeps it alive.
    table_ = Tensor::empty({std::max({first + count, 2 * known, Index{64}}), width_}, dtype_);
    for (Index position = 0; position < table_.size(0); ++position) {
      for (Index i = 0; i < width_; i += 2) {
        const double angle =
            static_cast<double>(position) / std::pow(10000, static_cast<double>(i) / static_cast<double>(width_));
        table_.set(position * width_ + i, std::sin(angle));
        table_.set(position * width_ + i + 1, std::cos(angle));
      }
    }
  }
  return table_.rows(first, first + count);
}

}  // namespace tapestry
