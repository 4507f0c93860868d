#include "nn/transformer_layers.h"

#include "autograd/elementwise.h"
#include "autograd/shape_ops.h"

namespace tapestry {
namespace {

MultiHeadAttentionOptions attention_options(const TransformerOptions& options) {
  MultiHeadAttentionOptions attention;
  attention.heads = options.heads;
  attention.bias = options.attention_bias;
  attention.dropout = options.attention_dropout;
  attention.gain = options.attention_gain;
  return attention;
}

// Leaves the weights of an attention where somebody asked for them, and passes its context on.
Var context_of(AttentionOutput output, Var* weights) {
  if (weights != nullptr) *weights = std::move(output.weights);
  return std::move(output.context);
}

}  // namespace

FeedForward::FeedForward(const Scope& scope, const TransformerOptions& options)
    : linear1(Linear::with_zero_bias(scope / "linear1", options.width, options.feed_forward)),
      linear2(Linear::with_zero_bias(scope / "linear2", options.feed_forward, options.width)),
      dropout(scope / "dropout", options.feed_forward_dropout),
      gelu(options.gelu) {}

Var FeedForward::operator()(const Var& x, const Pass& pass) const {
  if (gelu) return linear2(dropout(tapestry::gelu(linear1(x)), pass));
  const auto layer = linear1.reference ? linear_relu_reference : linear_relu;
  return linear2(layer(x, linear1.weight, linear1.bias, dropout.rate(pass), dropout.key(pass)));
}

EncoderLayer::EncoderLayer(const Scope& scope, const TransformerOptions& options)
    : self_attention(scope / "self_attn", options.width, attention_options(options)),
      feed_forward(scope, options),
      residual1(scope, "1", options),
      residual2(scope, "2", options) {}

Var EncoderLayer::operator()(const Var& x, const Mask& mask, const Pass& pass, Var* weights) const {
  const Var attended = residual1(
      x, pass, [&](const Var& y) { return context_of(self_attention(y, mask, pass, weights != nullptr), weights); });
  return residual2(attended, pass, [&](const Var& y) { return feed_forward(y, pass); });
}

Var EncoderLayer::step(const Var& x, core::KeyValueCache& cache, const core::Lineage& lineage) const {
  const Pass inference;
  const Var read =
      residual1(x, inference, [&](const Var& y) { return self_attention.step(y, cache, lineage).context; });
  return residual2(read, inference, [&](const Var& y) { return feed_forward(y, inference); });
}

DecoderLayer::DecoderLayer(const Scope& scope, const TransformerOptions& options)
    : self_attention(scope / "self_attn", options.width, attention_options(options)),
      cross_attention(scope / "multihead_attn", options.width, attention_options(options)),
      feed_forward(scope, options),
      residual1(scope, "1", options),
      residual2(scope, "2", options),
      residual3(scope, "3", options) {}

Var DecoderLayer::operator()(const Var& x, const MultiHeadAttention::Memory& memory, const Mask& self_mask,
                             const Mask& memory_mask, const Pass& pass, Weights* weights) const {
  const bool keep = weights != nullptr;
  const Var said = residual1(x, pass, [&](const Var& y) {
    return context_of(self_attention(y, self_mask, pass, keep), keep ? &weights->self : nullptr);
  });
  const Var read = residual2(said, pass, [&](const Var& y) {
    return context_of(cross_attention(y, memory, memory_mask, pass, keep), keep ? &weights->cross : nullptr);
  });
  return residual3(read, pass, [&](const Var& y) { return feed_forward(y, pass); });
}

Var DecoderLayer::step(const Var& x, core::KeyValueCache& cache, const core::Lineage& lineage,
                       const MultiHeadAttention::Memory& memory, const Mask& memory_mask, Weights* weights) const {
  const bool keep = weights != nullptr;
  const Pass inference;
  const Index sentences = memory.keys.x.size(0), width = x.size(1);
  const Var said = residual1(x, inference, [&](const Var& y) {
    return context_of(self_attention.step(y, cache, lineage, keep), keep ? &weights->self : nullptr);
  });
  const Var read = residual2(said, inference, [&](const Var& y) {
    const Var queries = reshape(y, {sentences, -1, width});  // the rows of a sentence ask side by side: [B,K,D]
    const Var context =
        context_of(cross_attention(queries, memory, memory_mask, inference, keep), keep ? &weights->cross : nullptr);
    return reshape(context, y.shape());
  });
  return residual3(read, inference, [&](const Var& y) { return feed_forward(y, inference); });
}

}  // namespace tapestry
