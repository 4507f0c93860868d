#include "nn/positional_encoding.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "autograd/elementwise.h"
#include "autograd/shape_ops.h"

namespace tapestry {

PositionalEncoding::PositionalEncoding(Index width, DType dtype) : width_(width), dtype_(dtype) {
  require(width >= 2 && width % 2 == 0,
          "positional_encoding: the width must be even, for sines and cosines come in pairs; given {}", width);
}

Tensor PositionalEncoding::operator()(Index first, Index count) const {
  const std::lock_guard lock(growing_);
  const Index known = table_ ? table_.size(0) : 0;
  if (!table_ || first + count > known) {
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

const std::vector<std::string>& position_kinds() {
  static const std::vector<std::string> kinds{"sinusoidal", "learned", "none", "integers"};
  return kinds;
}

Positions::Positions(const Scope& scope, Index width, const PositionOptions& options)
    : integers_(options.kind == "integers") {
  require_one_of("positions", options.kind, position_kinds());
  if (options.kind == "sinusoidal") sinusoids_.emplace(width, scope.dtype());
  if (options.kind != "learned") return;
  require(options.most >= 1, "positions: a learned table needs a row at least; given {}", options.most);
  table_ = scope.parameter("weight", {options.most, width}, initialise::normal(0.02));
}

Index Positions::most() const {
  return table_ ? table_.size(0) : std::numeric_limits<Index>::max();
}

Var Positions::operator()(const Var& x, Index first) const {
  const Index count = x.rank() == 3 ? x.size(1) : 1;
  if (sinusoids_) return x + Var((*sinusoids_)(first, count));
  if (table_) {
    require(first + count <= most(),
            "positions: there must be a row of the learned table for each; given {} rows and {} positions", most(),
            first + count);
    return x + slice(table_, 0, first, first + count);
  }
  if (!integers_) return x;
  std::vector<double> places(static_cast<std::size_t>(count));
  std::iota(places.begin(), places.end(), static_cast<double>(first));
  return x + Var(Tensor::from(places, {count, 1}, x.dtype()));
}

}  // namespace tapestry
