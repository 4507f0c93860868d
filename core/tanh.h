#pragma once
// tanh without a branch.

#include "core/vector.h"

namespace tapestry::core {

/// tanh(x), in f32 as x p(x^2) / q(x^2) within 6 units of the last place, never beyond 1. xsimd's, which f64 has, takes
/// one of two ways by the size of the arguments: on mixed ones, as gates and scores are, the processor guesses wrong
/// and it takes 1.4 ns an element in place of 0.5 (measured on AVX2).
///
/// The coefficients are the best for the relative error over |x| <= 9.01, beyond which tanh rounds to 1 (7e-9, by
/// least squares with weights of Lawson 1961); the other units are rounding.
template <class T>
Batch<T> smooth_tanh(const Batch<T>& x) {
  if constexpr (std::is_same_v<T, double>) {
    return tanh(x);
  } else {
    using B = Batch<T>;
    const B c = max(min(x, B(9.01F)), B(-9.01F)), s = c * c;
    B p(-8.4623511e-14F), q(2.54544866e-04F);
    for (const float coefficient :
         {5.2678608e-11F, -2.02046024e-08F, 1.11492855e-05F, 3.10347928e-03F, 0.130835846F, 1.0F})
      p = fma(p, s, B(coefficient));
    for (const float coefficient : {2.44932808e-02F, 0.464169115F, 1.0F}) q = fma(q, s, B(coefficient));
    const B y = max(min(c * p / q, B(1.0F)), B(-1.0F));
    return select(isnan(x), x, y);
  }
}

}  // namespace tapestry::core
