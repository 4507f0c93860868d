#include "autograd/convolution.h"
#include "autograd/ops.h"
#include "tools/adapters.h"

namespace tapestry {
namespace {

// Zeros on both sides, as many as a number, "same" or two numbers say. Here sequences are [B,T,C], in the oracle
// [B,C,T].
Outputs convolution(OracleCase& c) {
  if (c.hyper<Index>("groups", 1) != 1) throw NotImplemented("conv1d: groups");
  const Index kernel = c.hyper<Index>("kernel"), dilation = c.hyper<Index>("dilation", 1);
  ConvolutionPlan plan{c.hyper<Index>("pad_left", 0), c.hyper<Index>("pad_right", 0), dilation};
  if (c.given("padding")) {
    const nlohmann::json padding = c.hyper<nlohmann::json>("padding");
    if (padding == "same") {
      plan = ConvolutionPlan::same(kernel, dilation);
    } else if (padding.is_number()) {
      plan.left = plan.right = padding.get<Index>();
    }
  }
  const Var y = conv1d(transpose(c.in("x"), 1, 2), c.param("weight"), c.param("bias"), plan);
  return transpose(slice(y, 1, 0, y.size(1), c.hyper<Index>("stride", 1)), 1, 2);
}

// first half * sigmoid(second half)
Outputs glu(OracleCase& c) {
  const int axis = c.hyper<int>("axis");
  const Index half = c.in("x").size(axis) / 2;
  const auto halves = split(c.in("x"), {half, half}, axis);
  return halves[0] * sigmoid(halves[1]);
}

}  // namespace

std::vector<Adapter> convolution_adapters() {
  return {{"conv1d", "tapestry::conv1d", convolution},
          {"conv1d_causal", "tapestry::conv1d", convolution},
          {"glu", "composed: split, sigmoid, mul", glu}};
}

}  // namespace tapestry
