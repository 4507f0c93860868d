#include "autograd/attention.h"

#include <cmath>

#include "autograd/ops.h"
#include "autograd/record.h"
#include "core/attention.h"
#include "core/scaled_dot_product.h"

namespace tapestry {

// The derivation of backward stands beside the kernel.
AttentionOutput additive_attention(const Var& query, const Var& keys, const Var& w_v, const Var& values,
                                   const Mask& mask, double p, const DropoutKey& key) {
  core::AdditiveAttentionInputs in{query.value(), keys.value(), w_v.value(), values.value(), mask};
  in.check("additive_attention");
  if (p != 0) {
    in.kept = core::dropout_mask(query.size(0), query.size(1), keys.size(1), p, key);
    in.scale = core::dropout_scale(p);
  }
  const std::initializer_list<std::reference_wrapper<const Var>> inputs = {query, keys, w_v, values};
  core::AdditiveAttentionResult result = core::additive_attention(in, recording(inputs));
  const Tensor context = result.context, weights = result.weights;
  auto outputs = record("additive_attention", {context, weights}, inputs,
                        [in = std::move(in), result = std::move(result)](std::span<const Tensor> dy, Grads& dx) {
                          core::additive_attention_backward(
                              in, result, dy[0], dy[1],
                              {dx.into_if_wanted(0), dx.into_if_wanted(1), dx.into_if_wanted(2), dx.into_if_wanted(3)});
                        });
  return {std::move(outputs[0]), std::move(outputs[1])};
}

AttentionOutput additive_attention_reference(const Var& query, const Var& keys, const Var& w_v, const Var& values,
                                             const Mask& mask, double p, const DropoutKey& key) {
  const Index batch = query.size(0), queries = query.size(1), count = keys.size(1), width = keys.size(2);
  const Var sums = reshape(query, Shape{batch, queries, 1, width}) + reshape(keys, Shape{batch, 1, count, width});
  const Var scores = sum(tanh(sums) * reshape(w_v, Shape{width}), {-1});  // [B,Q,K]
  const Var weights = masked_softmax(scores, mask);
  return {matmul(dropout(weights, p, key), values), weights};
}

namespace {

Index value_width_of(const HeadOptions& options) {
  return options.value_width > 0 ? options.value_width : options.width;
}

DropoutKey key_of_head(const HeadOptions& options, Index head) {
  DropoutKey key = options.key;
  key.stream += static_cast<std::uint64_t>(head);
  return key;
}

}  // namespace

// The derivation of backward stands beside the kernel.
AttentionOutput scaled_dot_product_attention(const Projected& query, const Projected& keys, const Projected& values,
                                             const HeadOptions& options) {
  core::ScaledDotProductInputs in{{query.x.value(), query.column},
                                  {keys.x.value(), keys.column},
                                  {values.x.value(), values.column},
                                  options.heads,
                                  options.width,
                                  value_width_of(options),
                                  options.mask};
  in.check("scaled_dot_product_attention");
  if (options.p != 0) {
    for (Index head = 0; head < options.heads; ++head)
      in.kept.push_back(core::dropout_mask(query.x.size(0), query.x.size(1), in.band(), options.p,
                                           key_of_head(options, head), in.first_keys()));
    in.kept_scale = core::dropout_scale(options.p);
  }
  const std::initializer_list<std::reference_wrapper<const Var>> inputs = {query.x, keys.x, values.x};
  const core::ScaledDotProductResult result = core::scaled_dot_product(in, options.weights, recording(inputs));
  std::vector<Tensor> made{result.context};
  if (options.weights) made.push_back(result.weights);
  auto outputs =
      record("scaled_dot_product_attention", made, inputs,
             [in = std::move(in), saved = result.saved](std::span<const Tensor> dy, Grads& dx) {
               core::scaled_dot_product_backward(in, saved, dy[0], dy.size() > 1 ? dy[1] : Tensor(),
                                                 {dx.into_if_wanted(0), dx.into_if_wanted(1), dx.into_if_wanted(2)});
             });
  return {std::move(outputs[0]), options.weights ? std::move(outputs[1]) : Var()};
}

AttentionOutput scaled_dot_product_attention_reference(const Projected& query, const Projected& keys,
                                                       const Projected& values, const HeadOptions& options) {
  std::vector<Var> contexts, weights;
  for (Index head = 0; head < options.heads; ++head) {
    const auto columns = [&](const Projected& from, Index width) {
      const Index begin = from.column + head * width;
      return slice(from.x, 2, begin, begin + width);
    };
    const Var q = columns(query, options.width), k = columns(keys, options.width);
    const Var v = columns(values, value_width_of(options));
    const Var scores = matmul(q, transpose(k, 1, 2)) / std::sqrt(static_cast<double>(options.width));  // [B,Q,K]
    weights.push_back(masked_softmax(scores, options.mask));
    contexts.push_back(matmul(dropout(weights.back(), options.p, key_of_head(options, head)), v));
  }
  return {concat(contexts, 2), options.weights ? stack(weights, 1) : Var()};
}

}  // namespace tapestry
