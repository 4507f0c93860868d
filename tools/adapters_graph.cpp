#include <charconv>

#include "autograd/loss.h"
#include "autograd/ops.h"
#include "tools/adapters.h"

namespace tapestry {
namespace {

Outputs reuse(OracleCase& c) {
  const Var x = c.in("x");
  const std::string& variant = c.entry().variant;
  if (variant == "x_plus_x") return x + x;
  if (variant == "x_minus_x") return x - x;
  if (variant == "x_mul_x" || variant == "x_times_x") return x * x;
  if (variant == "x_div_x") return x / x;
  if (variant == "x_matmul_xT") return matmul(x, transpose(x, 0, 1));
  throw NotImplemented("reuse: unknown form " + variant);
}

Outputs diamond(OracleCase& c) {
  const Var h = tanh(c.in("x")) * c.in("w");
  return sin(h) * exp(-h) + h;
}

Outputs multi_output(OracleCase& c) {
  const Var w = c.in("w"), product = matmul(c.in("x"), w);
  return {{"s", sum(product)}, {"t", relu(product)}, {"u", w * 2.0}};
}

Outputs detach(OracleCase& c) {
  const Var x = c.in("x");
  return x * x.detach() + exp(x).detach() * c.in("w");
}

// The case is named by how often the step is repeated.
Outputs chain(OracleCase& c) {
  const std::string& variant = c.entry().variant;
  int steps = 0;
  const auto result = std::from_chars(variant.data(), variant.data() + variant.size(), steps);
  require(result.ec == std::errc(), "chain: the case must be named by a number of steps; it is {}", variant);
  Var h = c.in("x");
  for (int i = 0; i < steps; ++i) h = tanh(matmul(h, c.in("w")) + c.in("b")) + 0.5 * h;
  return h;
}

Outputs mlp(OracleCase& c) {
  const Var hidden = relu(matmul(c.in("x"), c.in("w1")) + c.in("b1"));
  return cross_entropy(matmul(hidden, c.in("w2")) + c.in("b2"), c.ids("t"));
}

}  // namespace

std::vector<Adapter> graph_adapters() {
  return {{"reuse", "operators + - * /, tapestry::matmul", reuse},
          {"diamond", "tapestry::tanh, sin, exp, mul, add", diamond},
          {"multi_output", "tapestry::matmul, sum, relu, scale", multi_output},
          {"detach", "Var::detach", detach},
          {"chain", "tapestry::matmul, tanh, add, scale", chain},
          {"mlp", "tapestry::matmul, relu, cross_entropy", mlp}};
}

}  // namespace tapestry
