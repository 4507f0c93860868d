#include <cmath>

#include "autograd/ops.h"
#include "nn/attention_pooling.h"
#include "tools/adapters.h"
#include "tools/book_attention.h"
#include "tools/case_mask.h"

namespace tapestry {
namespace {

Mask mask_of(const Ids& lengths) {
  return lengths ? Mask::lengths(lengths) : Mask();
}

Ids lengths_of(const OracleCase& c) {
  return c.has("in.valid_lens") ? c.ids("valid_lens") : Ids();
}

Outputs additive(OracleCase& c) {
  const AttentionPooling layer(c.scope(), c.hyper<Index>("key_size"), c.hyper<Index>("query_size"),
                               {"additive", "softmax", c.hyper<Index>("num_hiddens")});
  c.load();
  const Ids lengths = lengths_of(c);
  const Var values = c.in("v");
  const auto [context, weights] = layer(c.in("q"), layer.project(c.in("k")), values, mask_of(lengths), Pass());
  return {{"y", book_context(context, values, lengths)}, {"weights", book_weights(weights, lengths)}};
}

// One head, of all columns.
AttentionOutput one_head(OracleCase& c, const Mask& mask) {
  const Var q = c.in("q"), k = c.in("k"), v = c.in("v");
  AttentionOutput output = scaled_dot_product_attention({q}, {k}, {v}, {1, q.size(2), v.size(2), mask, 0, {}, true});
  output.weights = reshape(output.weights, {q.size(0), q.size(1), k.size(1)});
  return output;
}

Outputs dot(OracleCase& c) {
  const Ids lengths = lengths_of(c);
  const auto [context, weights] = one_head(c, mask_of(lengths));
  return {{"y", book_context(context, c.in("v"), lengths)}, {"weights", book_weights(weights, lengths)}};
}

Outputs scaled_dot_product(OracleCase& c) {
  const Var q = c.in("q"), k = c.in("k");
  const CaseMask mask = annotated_mask(c, "mask", q.size(0), q.size(1), k.size(1));
  if (const auto library = mask.library(); library && !mask.empty_rows()) {
    const auto [context, weights] = one_head(c, *library);
    return {{"y", context}, {"weights", weights}};
  }
  c.say_called("composed: matmul, masked_fill, softmax");
  const Var scores = matmul(q, transpose(k, -1, -2)) / std::sqrt(static_cast<double>(q.size(-1)));
  const Var weights = select(softmax(mask.applied(reshape(scores, scores.shape().inserted(1, 1)))), 1, 0);
  return {{"y", matmul(weights, c.in("v"))}, {"weights", weights}};
}

}  // namespace

std::vector<Adapter> attention_adapters() {
  return {{"additive_attention", "nn: AttentionPooling (tapestry::additive_attention)", additive},
          {"dot_attention", "tapestry::scaled_dot_product_attention", dot},
          {"scaled_dot_product", "tapestry::scaled_dot_product_attention", scaled_dot_product}};
}

}  // namespace tapestry
