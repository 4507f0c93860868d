#pragma once
// Cost against size.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/dtype.h"

namespace tapestry {

/// What one self-attention layer costs, forward and backward.
struct LayerCost {
  Index length, width;  // n positions of d numbers
  double seconds;
  double bytes;  // that are in use at the peak, beyond parameters, their gradients and the input
};

struct Scaling {
  std::vector<LayerCost> by_length, by_width;
  /// The power of length or width that time or bytes grow with, fitted.
  struct Exponents {
    double seconds, bytes;
  };
  Exponents length, width;
};

/// Multi-head self-attention of one sentence, four heads: of 16 to 1024 positions and width 64, of 128 positions and
/// width 32 to 512; each in a process of its own. Nobody asks for the weights, so memory grows with the length, not
/// with its square.
Scaling bench_scaling(int repetitions);

nlohmann::json to_json(const Scaling& scaling);
std::string format_scaling(const Scaling& scaling);

}  // namespace tapestry
