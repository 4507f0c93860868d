#pragma once
// How parameters begin. Values are drawn in f64 and rounded, so that an f32 and an f64 model of one seed agree.

#include <functional>

#include "core/random.h"
#include "core/tensor.h"

namespace tapestry {

/// Fills a fresh parameter.
using Initialiser = std::function<void(const Tensor&, core::Random&)>;

namespace initialise {

Initialiser constant(double value);
/// U(-bound, bound).
Initialiser uniform(double bound);
/// N(0, deviation^2).
Initialiser normal(double deviation);
/// U(-b, b), b = gain sqrt(6 / (fan_in + fan_out)), for a matrix [fan_out, fan_in].
/// Glorot and Bengio 2010, eq. 16, "normalized initialization". Errors: not a matrix.
Initialiser xavier_uniform(double gain = 1);
/// The same for each of `layers` matrices that stand below one another in one parameter [layers * fan_out, fan_in].
Initialiser stacked_xavier_uniform(Index layers, double gain = 1);
/// U(-1/sqrt(fan_in), 1/sqrt(fan_in)): what torch.nn gives its linear layers, and with the hidden width its recurrent
/// ones.
Initialiser fan_in_uniform(Index fan_in);

}  // namespace initialise
}  // namespace tapestry
