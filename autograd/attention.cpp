#include "autograd/attention.h"

#include "autograd/ops.h"
#include "autograd/record.h"
#include "core/attention.h"

namespace tapestry {

// The derivation of backward stands beside the kernel.
AttentionOutput additive_attention(const Var& query, const Var& keys, const Var& w_v, const Var& values,
                                   const Mask& mask, double p, const DropoutKey& key) {
  core::AdditiveAttentionInputs in{query.value(), keys.value(), w_v.value(), values.value(), mask};
  in.check("additive_attention");
  if (p != 0) {
    in.kept = core::dropout_mask(query.size(0), query.size(1), keys.size(1), p, key);
    in.scale = p < 1 ? 1 / (1 - p) : 0;
  }
  const std::initializer_list<std::reference_wrapper<const Var>> inputs = {query, keys, w_v, values};
  core::AdditiveAttentionResult result = core::additive_attention(in, recording(inputs));
  const Tensor context = result.context, weights = result.weights;
  auto outputs =
      record("additive_attention", {context, weights}, inputs,
             [in = std::move(in), result = std::move(result)](std::span<const Tensor> dy, Grads& dx) {
               const auto into = [&](std::size_t i) { return dx.wants(i) ? dx.into(i) : Tensor(); };
               core::additive_attention_backward(in, result, dy[0], dy[1], {into(0), into(1), into(2), into(3)});
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

}  // namespace tapestry
