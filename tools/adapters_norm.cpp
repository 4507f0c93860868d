#include "autograd/dropout.h"
#include "autograd/layer_norm.h"
#include "autograd/ops.h"
#include "nn/linear.h"
#include "tools/adapters.h"
#include "tools/annotated_transformer.h"

namespace tapestry {
namespace {

int axes_of(const OracleCase& c) {
  return static_cast<int>(c.hyper<std::vector<Index>>("normalized_shape").size());
}

Outputs layer_norm_of(OracleCase& c) {
  return layer_norm(c.in("x"), c.param("weight"), c.param("bias"), axes_of(c), c.hyper("eps", 1e-5));
}

Outputs at_layer_norm(OracleCase& c) {
  const Var x = c.in("x");
  const annotated::Norm norm(c.scope(), x.size(-1), c.hyper("eps", 1e-6));
  c.load();
  return norm(x);
}

Outputs addnorm(OracleCase& c) {
  if (axes_of(c) != 1) throw NotImplemented("add_norm: over more than the last axis");
  return add_norm(c.in("y"), c.in("x"), c.param("ln.weight"), c.param("ln.bias"), {0, {}, c.hyper("eps", 1e-5)});
}

// The layer FeedForward returns to the width it came from; the book's need not.
Outputs feed_forward(OracleCase& c) {
  const Linear inner(c.scope() / "dense1", c.hyper<Index>("in"), c.hyper<Index>("hidden"));
  const Linear outer(c.scope() / "dense2", c.hyper<Index>("hidden"), c.hyper<Index>("out"));
  c.load();
  return outer(linear_relu(c.in("x"), inner.weight, inner.bias));
}

// Which elements PyTorch's generator drops cannot be known; only p = 0, p = 1, evaluation and a given mask have an
// answer.
Outputs dropout_of(OracleCase& c) {
  const Var x = c.in("x");
  const auto p = c.hyper<double>("p");
  if (c.has("in.mask")) {
    std::vector<std::int32_t> dropped;
    for (auto kept : c.ids("mask").values()) dropped.push_back(1 - kept);
    return masked_fill(x, Ids(std::move(dropped), c.ids("mask").shape()), 0) / (1 - p);
  }
  if (c.has("in.const_mask")) return x * c.in("const_mask") / (1 - p);
  if (!c.hyper("training", true)) return x;
  if (p != 0 && p != 1) throw NotImplemented("dropout: the mask is not given");
  // With p = 0 or 1 no element's place matters, so that rows may stand for any shape.
  return reshape(dropout(reshape(x, {x.numel(), 1}), p, {}), x.shape());
}

}  // namespace

std::vector<Adapter> norm_adapters() {
  return {{"layer_norm", "tapestry::layer_norm", layer_norm_of},
          {"at_layer_norm", "composed: mean, variance, sqrt, div", at_layer_norm},
          {"d2l_addnorm", "tapestry::add_norm", addnorm},
          {"d2l_ffn", "tapestry::linear_relu, nn: Linear (tapestry::linear)", feed_forward},
          {"dropout", "tapestry::dropout", dropout_of},
          {"dropout_given_mask", "composed: masked_fill, scale", dropout_of}};
}

}  // namespace tapestry
