#pragma once
// Functions on vector registers that xsimd has not, or not accurately enough. Found by argument-dependent lookup next
// to xsimd's exp, log, tanh ... they are called as core::sigmoid(x).

#include "core/vector.h"

namespace tapestry::core {

/// 1 / (1 + e^-x). For very negative x e^-x is infinite and the quotient 0, as it should be.
template <class B>
B sigmoid(const B& x) {
  return B(1) / (B(1) + exp(-x));
}

/// log(1 + e^x) = max(x, 0) + log1p(e^-|x|): the exponential is at most 1.
template <class B>
B softplus(const B& x) {
  return larger(x, B(0)) + log1p(exp(-abs(x)));
}

/// xsimd's erf and erfc lose up to 70 units of the last place in f64, and all digits in the tail: there the scalar
/// functions serve, lane by lane.
template <class B>
B exact_erf(const B& x) {
  if constexpr (std::is_same_v<typename B::value_type, float>) return erf(x);
  return each_lane([](auto value) { return std::erf(value); }, x);
}
template <class B>
B exact_erfc(const B& x) {
  if constexpr (std::is_same_v<typename B::value_type, float>) return erfc(x);
  return each_lane([](auto value) { return std::erfc(value); }, x);
}

/// The density of the standard normal distribution, e^(-x^2/2) / sqrt(2 pi), and its distribution function
/// Phi(x) = (1 + erf(x / sqrt 2)) / 2.
template <class B>
B normal_density(const B& x) {
  return exp(x * x * B(-0.5)) * B(0.39894228040143267794);
}
template <class B>
B normal_distribution(const B& x) {
  return exact_erfc(x * B(-0.70710678118654752440)) * B(0.5);
}

}  // namespace tapestry::core
