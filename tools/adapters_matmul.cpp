#include "autograd/ops.h"
#include "nn/linear.h"
#include "tools/adapters.h"
#include "tools/expression.h"

namespace tapestry {
namespace {

Outputs product(OracleCase& c) {
  if (const auto text = expression_of(c)) return evaluate(*text, c);
  return matmul(c.in("a"), c.in("b"));
}

Outputs addmm(OracleCase& c) {
  return c.hyper("beta", 1.0) * c.in("c") + c.hyper("alpha", 1.0) * matmul(c.in("a"), c.in("b"));
}

// A column times a row.
Outputs outer(OracleCase& c) {
  const Var a = c.in("a"), b = c.in("b");
  return matmul(reshape(a, {a.numel(), 1}), reshape(b, {1, b.numel()}));
}

Outputs linear_layer(OracleCase& c) {
  const Linear layer(c.scope(), c.hyper<Index>("in_features"), c.hyper<Index>("out_features"), c.hyper("bias", true));
  c.load();
  return layer(c.in("x"));
}

}  // namespace

std::vector<Adapter> matmul_adapters() {
  return {{"matmul", "tapestry::matmul", product}, {"matmul_view", "tapestry::matmul", product},
          {"bmm", "tapestry::matmul", product},    {"addmm", "tapestry::matmul, add", addmm},
          {"outer", "tapestry::matmul", outer},    {"linear", "nn: Linear (tapestry::linear)", linear_layer}};
}

}  // namespace tapestry
