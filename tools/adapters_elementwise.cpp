#include <algorithm>
#include <cmath>
#include <limits>

#include "autograd/ops.h"
#include "autograd/record.h"
#include "core/condition.h"
#include "tools/adapters.h"
#include "tools/expression.h"

namespace tapestry {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using Unary = Var (*)(const Var&);
using Binary = Var (*)(const Var&, const Var&);

Adapter unary(const char* op, Unary function) {
  return {op, std::string("tapestry::") + op, [function](OracleCase& c) { return Outputs(function(c.in("x"))); }};
}

// Operands a and b, or what the case's expression makes of them ("a[:, 1:5:2] * b").
Adapter binary(const char* op, Binary function) {
  return {op, std::string("tapestry::") + op, [function](OracleCase& c) {
            if (const auto text = expression_of(c)) return Outputs(evaluate(*text, c));
            return Outputs(function(c.in("a"), c.in("b")));
          }};
}

// 1 where the predicate holds for the element, else 0.
template <class Predicate>
Ids condition(const Var& x, Predicate holds) {
  std::vector<std::int32_t> flags;
  for (double value : x.value().values()) flags.push_back(holds(value) ? 1 : 0);
  return Ids(std::move(flags), x.shape());
}

Outputs pow_scalar(OracleCase& c) {
  const Var x = c.in("x");
  if (!c.given("exponents")) return pow(x, c.hyper<double>("exponent"));
  std::vector<Var> rows;
  for (double exponent : c.hyper<std::vector<double>>("exponents")) rows.push_back(pow(x, exponent));
  return stack(rows, 0);
}

Outputs scalar_arith(OracleCase& c) {
  const Var x = c.in("x");
  const auto s = c.hyper<double>("scalar");
  const std::string& variant = c.entry().variant;
  if (variant == "x_plus") return x + s;
  if (variant == "plus_x") return s + x;
  if (variant == "x_minus") return x - s;
  if (variant == "minus_x") return s - x;
  if (variant == "x_mul") return x * s;
  if (variant == "mul_x") return s * x;
  if (variant == "x_div") return x / s;
  if (variant == "div_x") return s / x;
  if (variant == "x_pow") return pow(x, s);
  throw NotImplemented("scalar_arith: unknown form " + variant);
}

// PyTorch's softplus is log(1 + e^(beta x)) / beta, and x itself where beta x lies beyond the threshold.
Outputs softplus_of(OracleCase& c) {
  const Var x = c.in("x");
  const double beta = c.hyper("beta", 1.0), threshold = c.hyper("threshold", 20.0);
  const Ids beyond = condition(x, [=](double v) { return v * beta > threshold; });
  return where(beyond, x, softplus(x * beta) / beta);
}

// x where x > 0, else alpha (e^x - 1); the clamp keeps the exponential of the other branch finite.
Outputs elu(OracleCase& c) {
  const Var x = c.in("x");
  const Var below = (exp(clamp(x, -infinity, 0)) - 1) * c.hyper("alpha", 1.0);
  return where(condition(x, [](double v) { return v > 0; }), x, below);
}

// PyTorch's gradient is zero at the bounds themselves, where that of clamp passes.
Outputs hardtanh(OracleCase& c) {
  const Var x = c.in("x");
  const double low = c.hyper("min", -1.0), high = c.hyper("max", 1.0);
  return where(condition(x, [=](double v) { return low < v && v < high; }), x, clamp(x.detach(), low, high));
}

Outputs sign(OracleCase& c) {
  const Var x = c.in("x"), zero = c.constant(0);
  const Var negative = where(condition(x, [](double v) { return v < 0; }), c.constant(-1), zero);
  return where(condition(x, [](double v) { return v > 0; }), c.constant(1), negative);
}

// An op that the library has not, added from outside of it: y = atan(x), dx = dy / (1 + x^2).
Outputs atan_of(OracleCase& c) {
  const Var x = c.in("x");
  std::vector<double> y = x.value().values();
  std::ranges::transform(y, y.begin(), [](double v) { return std::atan(v); });
  return record("atan", Tensor::from(y, x.shape(), x.dtype()), {x}, [x = x.value()](const Tensor& dy, Grads& dx) {
    const Var slope = 1.0 / (square(Var(x)) + 1);
    dx.add(0, mul(Var(dy), slope).value());
  });
}

Outputs clamp_of(OracleCase& c) {
  return clamp(c.in("x"), c.hyper("min", -infinity), c.hyper("max", infinity));
}

Outputs where_of(OracleCase& c) {
  const Var a = c.given("self") ? c.constant(c.hyper<double>("self")) : c.in("a");
  return where(c.ids("cond"), a, c.given("other") ? c.constant(c.hyper<double>("other")) : c.in("b"));
}

Outputs compare(OracleCase& c) {
  const Shape shape = broadcast("compare", c.in("a").shape(), c.in("b").shape());
  const std::vector<double> a = expand(c.in("a"), shape).value().values();
  const std::vector<double> b = expand(c.in("b"), shape).value().values();
  Outputs outputs;
  const auto table = [&](const char* name, auto holds) {
    std::vector<std::int32_t> flags;
    for (std::size_t i = 0; i < a.size(); ++i) flags.push_back(holds(a[i], b[i]) ? 1 : 0);
    outputs.ids[name] = Ids(std::move(flags), shape);
  };
  table("gt", std::greater<>());
  table("ge", std::greater_equal<>());
  table("lt", std::less<>());
  table("le", std::less_equal<>());
  table("eq", std::equal_to<>());
  table("ne", std::not_equal_to<>());
  return outputs;
}

Outputs rpow(OracleCase& c) {
  return pow(c.constant(c.hyper<double>("base")), c.in("x"));
}

Outputs tan_of(OracleCase& c) {
  return sin(c.in("x")) / cos(c.in("x"));
}

Outputs softsign(OracleCase& c) {
  return c.in("x") / (abs(c.in("x")) + 1);
}

}  // namespace

std::vector<Adapter> elementwise_adapters() {
  return {
      binary("add", add),
      binary("sub", sub),
      binary("mul", mul),
      binary("div", div),
      binary("maximum", maximum),
      binary("minimum", minimum),
      binary("pow", pow),
      unary("neg", neg),
      unary("exp", exp),
      unary("log", log),
      unary("tanh", tanh),
      unary("sigmoid", sigmoid),
      unary("relu", relu),
      unary("sqrt", sqrt),
      unary("abs", abs),
      unary("square", square),
      unary("reciprocal", reciprocal),
      unary("sin", sin),
      unary("cos", cos),
      unary("erf", erf),
      unary("silu", silu),
      unary("gelu_tanh", gelu_tanh),
      {"pow_scalar", "tapestry::pow", pow_scalar},
      {"rpow_scalar", "tapestry::pow", rpow},
      {"scalar_arith", "operators + - * / of a Var and a number", scalar_arith},
      {"log1p", "composed: log, shift", [](OracleCase& c) { return Outputs(log(c.in("x") + 1)); }},
      {"expm1", "composed: exp, shift", [](OracleCase& c) { return Outputs(exp(c.in("x")) - 1); }},
      {"rsqrt", "composed: sqrt, reciprocal", [](OracleCase& c) { return Outputs(reciprocal(sqrt(c.in("x")))); }},
      {"softplus", "tapestry::softplus (x itself beyond PyTorch's threshold)", softplus_of},
      {"gelu_erf", "tapestry::gelu", [](OracleCase& c) { return Outputs(gelu(c.in("x"))); }},
      {"logsigmoid", "composed: neg, softplus", [](OracleCase& c) { return Outputs(-softplus(-c.in("x"))); }},
      {"elu", "composed: exp, clamp, where", elu},
      {"leaky_relu", "tapestry::leaky_relu",
       [](OracleCase& c) { return Outputs(leaky_relu(c.in("x"), c.hyper("negative_slope", 0.01))); }},
      {"softsign", "composed: abs, div", softsign},
      {"clamp", "tapestry::clamp", clamp_of},
      {"clamp_min", "tapestry::clamp", clamp_of},
      {"clamp_max", "tapestry::clamp", clamp_of},
      {"hardtanh", "composed: clamp, where", hardtanh},
      {"sign", "composed: where", sign},
      {"tan", "composed: sin, cos, div", tan_of},
      {"atan", "an op of the adapter's own, by record()", atan_of},
      {"where", "tapestry::where", where_of},
      {"masked_fill", "tapestry::masked_fill",
       [](OracleCase& c) { return Outputs(masked_fill(c.in("x"), c.ids("mask"), c.hyper<double>("value"))); }},
      {"compare", "tapestry::expand, then C++'s comparisons", compare},
  };
}

}  // namespace tapestry
