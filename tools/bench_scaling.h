#pragma once
// Cost against size.

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "nn/store.h"

namespace tapestry {

/// What one layer costs, forward and backward.
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

/// A layer from [1,n,d] to [1,n,d].
using SequenceLayer = std::function<Var(const Var& x)>;
using MakeSequenceLayer = std::function<SequenceLayer(const Scope&, Index width)>;

/// At which lengths of one width, and at which widths of one length, a layer is measured.
struct ScalingSizes {
  std::vector<Index> lengths;
  Index width;
  std::vector<Index> widths;
  Index length;
};

/// Medians of so many rounds through all sizes, each measured in a process of its own.
Scaling measure_scaling(const MakeSequenceLayer& make, const ScalingSizes& sizes, int repetitions);

/// The least-squares slope of log y by log x: the power of x that y grows with.
double fitted_exponent(const std::vector<double>& x, const std::vector<double>& y);

/// Multi-head self-attention of one sentence, four heads: of 16 to 1024 positions and width 64, of 128 positions and
/// width 32 to 512. Nobody asks for the weights, so memory grows with the length, not
/// with its square.
Scaling bench_scaling(int repetitions);

nlohmann::json to_json(const Scaling& scaling);
std::string format_scaling(const Scaling& scaling);

}  // namespace tapestry
