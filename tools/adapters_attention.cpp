#include <cmath>

#include "autograd/ops.h"
#include "nn/additive_attention.h"
#include "tools/adapters.h"
#include "tools/book_attention.h"

namespace tapestry {
namespace {

Mask mask_of(const Ids& lengths) {
  return lengths ? Mask::lengths(lengths) : Mask();
}

Ids lengths_of(const OracleCase& c) {
  return c.has("in.valid_lens") ? c.ids("valid_lens") : Ids();
}

Outputs additive(OracleCase& c) {
  const AdditiveAttention layer(c.scope(), c.hyper<Index>("key_size"), c.hyper<Index>("query_size"),
                                c.hyper<Index>("num_hiddens"));
  c.load();
  const Ids lengths = lengths_of(c);
  const Var values = c.in("v");
  const auto [context, weights] = layer(c.in("q"), layer.project(c.in("k")), values, mask_of(lengths), Pass());
  return {{"y", book_context(context, values, lengths)}, {"weights", book_weights(weights, lengths)}};
}

// q k^T / sqrt(d): [B,Q,K].
Var scores(OracleCase& c) {
  const Var q = c.in("q");
  return matmul(q, transpose(c.in("k"), -1, -2)) / std::sqrt(static_cast<double>(q.size(-1)));
}

Outputs dot(OracleCase& c) {
  const Ids lengths = lengths_of(c);
  const Var weights = book_weights(masked_softmax(scores(c), mask_of(lengths)), lengths);
  return {{"y", matmul(weights, c.in("v"))}, {"weights", weights}};
}

// The Annotated Transformer's mask is true where a key is attended to.
Outputs scaled_dot_product(OracleCase& c) {
  Var masked = scores(c);
  if (c.has("in.mask")) {
    std::vector<std::int32_t> hidden;
    for (auto visible : c.ids("mask").values()) hidden.push_back(1 - visible);
    masked = masked_fill(masked, Ids(std::move(hidden), c.ids("mask").shape()), c.hyper("mask_value", -1e9));
  }
  const Var weights = softmax(masked);
  return {{"y", matmul(weights, c.in("v"))}, {"weights", weights}};
}

}  // namespace

std::vector<Adapter> attention_adapters() {
  return {{"additive_attention", "nn: AdditiveAttention (tapestry::additive_attention)", additive},
          {"dot_attention", "composed: matmul, masked_softmax", dot},
          {"scaled_dot_product", "composed: matmul, masked_fill, softmax", scaled_dot_product}};
}

}  // namespace tapestry
