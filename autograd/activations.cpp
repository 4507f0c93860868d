#include "autograd/elementwise.h"
#include "autograd/record.h"
#include "core/elementwise.h"
#include "core/functions.h"

namespace tapestry {

/// y = tanh x                            dx = dy (1 - y^2)
Var tanh(const Var& x) {
  Tensor y = core::map([](auto u) { return tanh(u); }, x.value());
  return record("tanh", y, {x}, [y](const Tensor& dy, Grads& dx) {
    dx.add(0, core::map(
                  "tanh", [](auto g, auto v) { return g * (1 - v * v); }, dy, y));
  });
}

/// y = 1 / (1 + e^-x)                    dx = dy y (1 - y)
Var sigmoid(const Var& x) {
  Tensor y = core::map([](auto u) { return core::sigmoid(u); }, x.value());
  return record("sigmoid", y, {x}, [y](const Tensor& dy, Grads& dx) {
    dx.add(0, core::map(
                  "sigmoid", [](auto g, auto v) { return g * v * (1 - v); }, dy, y));
  });
}

/// y = max(x, 0)                         dx = dy where y > 0, else 0
Var relu(const Var& x) {
  Tensor y = core::map([](auto u) { return core::larger(u, decltype(u)(0)); }, x.value());
  return record("relu", y, {x}, [y](const Tensor& dy, Grads& dx) {
    dx.add(0, core::map(
                  "relu", [](auto g, auto v) { return select(v > 0, g, decltype(g)(0)); }, dy, y));
  });
}

/// y = x where x > 0, else slope x       dx = dy where x > 0, else slope dy
Var leaky_relu(const Var& x, double slope) {
  Tensor y = core::map([slope](auto u) { return select(u > 0, u, slope * u); }, x.value());
  return record("leaky_relu", y, {x}, [x = x.value(), slope](const Tensor& dy, Grads& dx) {
    dx.add(0, core::map(
                  "leaky_relu", [slope](auto g, auto u) { return select(u > 0, g, slope * g); }, dy, x));
  });
}

/// y = x Phi(x)                          dx = dy (Phi(x) + x phi(x)), phi = Phi' the normal density
Var gelu(const Var& x) {
  Tensor y = core::map([](auto u) { return u * core::normal_distribution(u); }, x.value());
  return record("gelu", y, {x}, [x = x.value()](const Tensor& dy, Grads& dx) {
    const auto slope = [](auto g, auto u) { return g * (core::normal_distribution(u) + u * core::normal_density(u)); };
    dx.add(0, core::map("gelu", slope, dy, x));
  });
}

namespace {

constexpr double gelu_a = 0.044715, gelu_c = 0.79788456080286535588;  // sqrt(2 / pi)

}  // namespace

/// y = x/2 (1 + t), t = tanh(c (x + a x^3))      dx = dy ((1 + t)/2 + x/2 (1 - t^2) c (1 + 3 a x^2))
Var gelu_tanh(const Var& x) {
  const auto inner = [](auto u) { return tanh(gelu_c * u * (1 + gelu_a * u * u)); };
  Tensor y = core::map([inner](auto u) { return 0.5 * u * (1 + inner(u)); }, x.value());
  return record("gelu_tanh", y, {x}, [x = x.value(), inner](const Tensor& dy, Grads& dx) {
    const auto slope = [inner](auto g, auto u) {
      const auto t = inner(u);
      return 0.5 * g * (1 + t + u * (1 - t * t) * gelu_c * (1 + 3 * gelu_a * u * u));
    };
    dx.add(0, core::map("gelu_tanh", slope, dy, x));
  });
}

/// y = x s, s = sigmoid(x)               dx = dy (s + x s (1 - s))
Var silu(const Var& x) {
  Tensor y = core::map([](auto u) { return u * core::sigmoid(u); }, x.value());
  return record("silu", y, {x}, [x = x.value()](const Tensor& dy, Grads& dx) {
    const auto slope = [](auto g, auto u) {
      const auto s = core::sigmoid(u);
      return g * s * (1 + u * (1 - s));
    };
    dx.add(0, core::map("silu", slope, dy, x));
  });
}

/// y = log(1 + e^x)                      dx = dy sigmoid(x)
Var softplus(const Var& x) {
  Tensor y = core::map([](auto u) { return core::softplus(u); }, x.value());
  return record("softplus", y, {x}, [x = x.value()](const Tensor& dy, Grads& dx) {
    dx.add(0, core::map(
                  "softplus", [](auto g, auto u) { return g * core::sigmoid(u); }, dy, x));
  });
}

}  // namespace tapestry
