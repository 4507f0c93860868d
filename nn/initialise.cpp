#include "nn/initialise.h"

#include <cmath>

namespace tapestry::initialise {

Initialiser constant(double value) {
  return [value](const Tensor& t, core::Random&) { t.fill(value); };
}

Initialiser uniform(double bound) {
  return [bound](const Tensor& t, core::Random& random) {
    for (Index i = 0; i < t.numel(); ++i) t.set(i, bound * (2 * random.uniform() - 1));
  };
}

Initialiser normal(double deviation) {
  return [deviation](const Tensor& t, core::Random& random) {
    for (Index i = 0; i < t.numel(); ++i) t.set(i, deviation * random.normal());
  };
}

Initialiser xavier_uniform(double gain) {
  return stacked_xavier_uniform(1, gain);
}

Initialiser stacked_xavier_uniform(Index layers, double gain) {
  return [=](const Tensor& t, core::Random& random) {
    require(t.rank() == 2, "xavier_uniform: a matrix [fan_out, fan_in] is needed; given {}", t.shape());
    uniform(gain * std::sqrt(6.0 / static_cast<double>(t.size(0) / layers + t.size(1))))(t, random);
  };
}

Initialiser fan_in_uniform(Index fan_in) {
  return uniform(1 / std::sqrt(static_cast<double>(fan_in)));
}

}  // namespace tapestry::initialise
