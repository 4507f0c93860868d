#pragma once
// Differentiable functions of single elements. Two operands broadcast: shapes are aligned at the last axis, sizes are
// equal or 1. Errors of all with two operands: `op: shapes must broadcast ...`, `op: all inputs must have one dtype
// ...`.

#include "autograd/var.h"
#include "core/ids.h"

namespace tapestry {

// Arithmetic (binary.cpp).

Var add(const Var& a, const Var& b);
Var sub(const Var& a, const Var& b);
Var mul(const Var& a, const Var& b);
Var div(const Var& a, const Var& b);
/// a^b. The gradient by b needs a >= 0, and is 0 where a = 0.
Var pow(const Var& a, const Var& b);
/// x^exponent. x^0 is 1 with gradient 0, at 0 too.
Var pow(const Var& x, double exponent);
/// x + c and c x for a number c.
Var shift(const Var& x, double c);
Var scale(const Var& x, double c);

/// The larger, the smaller operand. At a tie half of the gradient goes to each.
Var maximum(const Var& a, const Var& b);
Var minimum(const Var& a, const Var& b);
/// x confined to [low, high]. The gradient passes at both bounds.
Var clamp(const Var& x, double low, double high);
/// a where the condition is not 0, else b; all three broadcast.
Var where(const Ids& condition, const Var& a, const Var& b);
/// `value` where the mask is not 0, else x; the mask broadcasts to x.
Var masked_fill(const Var& x, const Ids& mask, double value);

inline Var operator+(const Var& a, const Var& b) {
  return add(a, b);
}
inline Var operator-(const Var& a, const Var& b) {
  return sub(a, b);
}
inline Var operator*(const Var& a, const Var& b) {
  return mul(a, b);
}
inline Var operator/(const Var& a, const Var& b) {
  return div(a, b);
}
inline Var operator+(const Var& x, double c) {
  return shift(x, c);
}
inline Var operator+(double c, const Var& x) {
  return shift(x, c);
}
inline Var operator-(const Var& x, double c) {
  return shift(x, -c);
}
inline Var operator-(double c, const Var& x) {
  return shift(scale(x, -1), c);
}
inline Var operator*(const Var& x, double c) {
  return scale(x, c);
}
inline Var operator*(double c, const Var& x) {
  return scale(x, c);
}
inline Var operator/(const Var& x, double c) {
  return scale(x, 1 / c);
}

// Functions of one operand (unary.cpp).

Var neg(const Var& x);
Var exp(const Var& x);
Var log(const Var& x);
Var sqrt(const Var& x);
Var square(const Var& x);
Var reciprocal(const Var& x);
/// |x|, with gradient 0 at 0.
Var abs(const Var& x);
Var erf(const Var& x);
Var sin(const Var& x);
Var cos(const Var& x);

inline Var operator-(const Var& x) {
  return neg(x);
}
/// c / x for a number c.
inline Var operator/(double c, const Var& x) {
  return scale(reciprocal(x), c);
}

// Activations (activations.cpp).

Var tanh(const Var& x);
/// 1 / (1 + e^-x)
Var sigmoid(const Var& x);
/// max(x, 0), with gradient 0 at 0.
Var relu(const Var& x);
/// x where x > 0, else slope x, with gradient `slope` at 0.
Var leaky_relu(const Var& x, double slope = 0.01);
/// x Phi(x), Phi the normal distribution function (Hendrycks and Gimpel 2016, "Gaussian Error Linear Units").
Var gelu(const Var& x);
/// Their approximation of it, x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
Var gelu_tanh(const Var& x);
/// x sigmoid(x) (the same paper).
Var silu(const Var& x);
/// log(1 + e^x), without overflow.
Var softplus(const Var& x);

}  // namespace tapestry
