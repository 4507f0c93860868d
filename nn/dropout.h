#pragma once
// Dropout as a layer: a rate and a random stream.

#include "autograd/dropout.h"
#include "nn/pass.h"
#include "nn/store.h"

namespace tapestry {

/// Zeroes each element with probability p and scales the others by 1/(1-p), in training. Srivastava et al. 2014.
struct Dropout {
  double p;
  std::uint64_t stream;

  /// Errors: p outside of [0, 1].
  Dropout(const Scope& scope, double rate) : p(rate), stream(scope.stream()) {
    require(rate >= 0 && rate <= 1, "dropout: the rate must lie in [0, 1]; given {}", rate);
  }

  /// The rate in effect, and the key of the masks from time step `position` on.
  double rate(const Pass& pass) const { return pass.training ? p : 0; }
  DropoutKey key(const Pass& pass, Index position = 0) const {
    return {pass.seed, stream, static_cast<std::uint32_t>(pass.update), static_cast<std::uint32_t>(pass.first_sentence),
            static_cast<std::uint32_t>(position)};
  }
  /// x [B,T,F], or one time step [B,F] at `position`.
  Var operator()(const Var& x, const Pass& pass, Index position = 0) const {
    return rate(pass) == 0 ? x : dropout(x, p, key(pass, position));
  }
};

}  // namespace tapestry
