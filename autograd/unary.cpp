#include "autograd/elementwise.h"
#include "autograd/record.h"
#include "core/elementwise.h"
#include "core/functions.h"

namespace tapestry {

/// y = -x                                dx = -dy
Var neg(const Var& x) {
  Tensor y = core::map([](auto u) { return -u; }, x.value());
  return record("neg", y, {x},
                [](const Tensor& dy, Grads& dx) { dx.add(0, core::map([](auto g) { return -g; }, dy)); });
}

/// y = e^x                               dx = dy y
Var exp(const Var& x) {
  Tensor y = core::map([](auto u) { return exp(u); }, x.value());
  return record("exp", y, {x}, [y](const Tensor& dy, Grads& dx) {
    dx.add(0, core::map(
                  "exp", [](auto g, auto v) { return g * v; }, dy, y));
  });
}

/// y = log x                             dx = dy / x
Var log(const Var& x) {
  Tensor y = core::map([](auto u) { return log(u); }, x.value());
  return record("log", y, {x}, [x = x.value()](const Tensor& dy, Grads& dx) {
    dx.add(0, core::map(
                  "log", [](auto g, auto u) { return g / u; }, dy, x));
  });
}

/// y = sqrt x                            dx = dy / (2 y)
Var sqrt(const Var& x) {
  Tensor y = core::map([](auto u) { return sqrt(u); }, x.value());
  return record("sqrt", y, {x}, [y](const Tensor& dy, Grads& dx) {
    dx.add(0, core::map(
                  "sqrt", [](auto g, auto v) { return g / (2 * v); }, dy, y));
  });
}

/// y = x^2                               dx = 2 dy x
Var square(const Var& x) {
  Tensor y = core::map([](auto u) { return u * u; }, x.value());
  return record("square", y, {x}, [x = x.value()](const Tensor& dy, Grads& dx) {
    dx.add(0, core::map(
                  "square", [](auto g, auto u) { return 2 * g * u; }, dy, x));
  });
}

/// y = 1 / x                             dx = -dy y^2
Var reciprocal(const Var& x) {
  Tensor y = core::map([](auto u) { return 1 / u; }, x.value());
  return record("reciprocal", y, {x}, [y](const Tensor& dy, Grads& dx) {
    dx.add(0, core::map(
                  "reciprocal", [](auto g, auto v) { return -g * v * v; }, dy, y));
  });
}

/// y = |x|                               dx = dy sign(x), sign(0) = 0
Var abs(const Var& x) {
  Tensor y = core::map([](auto u) { return abs(u); }, x.value());
  return record("abs", y, {x}, [x = x.value()](const Tensor& dy, Grads& dx) {
    dx.add(0, core::map(
                  "abs", [](auto g, auto u) { return select(u > 0, g, select(u < 0, -g, decltype(g)(0))); }, dy, x));
  });
}

/// y = erf x = 2/sqrt(pi) int_0^x e^(-t^2) dt         dx = dy 2/sqrt(pi) e^(-x^2)
Var erf(const Var& x) {
  Tensor y = core::map([](auto u) { return core::exact_erf(u); }, x.value());
  return record("erf", y, {x}, [x = x.value()](const Tensor& dy, Grads& dx) {
    dx.add(0, core::map(
                  "erf", [](auto g, auto u) { return 1.1283791670955125739 * g * exp(-u * u); }, dy, x));
  });
}

namespace {

// xsimd reduces the argument of a whole register by its largest lane: a value would depend on its neighbours.
constexpr auto sine = [](auto u) { return core::each_lane([](auto value) { return std::sin(value); }, u); };
constexpr auto cosine = [](auto u) { return core::each_lane([](auto value) { return std::cos(value); }, u); };

}  // namespace

/// y = sin x                             dx = dy cos x
Var sin(const Var& x) {
  return record("sin", core::map(sine, x.value()), {x}, [x = x.value()](const Tensor& dy, Grads& dx) {
    dx.add(0, core::map(
                  "sin", [](auto g, auto u) { return g * cosine(u); }, dy, x));
  });
}

/// y = cos x                             dx = -dy sin x
Var cos(const Var& x) {
  return record("cos", core::map(cosine, x.value()), {x}, [x = x.value()](const Tensor& dy, Grads& dx) {
    dx.add(0, core::map(
                  "cos", [](auto g, auto u) { return -g * sine(u); }, dy, x));
  });
}

}  // namespace tapestry
