#pragma once
// The layers of the Transformer (Vaswani et al. 2017, figure 1 and section 3). Parameters as torch.nn's
// TransformerEncoderLayer and TransformerDecoderLayer.

#include <optional>

#include "autograd/elementwise.h"
#include "autograd/layer_norm.h"
#include "nn/multi_head_attention.h"

namespace tapestry {

struct TransformerOptions {
  Index width = 512, feed_forward = 2048, heads = 8, layers = 6;
  bool pre_norm = false;       // normalise before each sublayer, not after it (Xiong et al. 2020)
  bool final_norm = false;     // once more after each stack
  bool attention_bias = true;  // of the attention's projections
  bool gelu = false;           // in place of relu
  double dropout = 0.1;        // of what each sublayer adds, and of the embeddings
  double attention_dropout = 0;
  double feed_forward_dropout = 0;
  double attention_gain = 1;  // of the initial query, key and value projections
  bool norm = true;           // of the sublayers, in either order
  bool residual = true;       // what goes round each sublayer
};

/// n weight + bias over the last axis [D]; weight starts as ones, bias as zeros. As torch.nn.LayerNorm.
struct LayerNorm {
  Var weight, bias;
  bool reference;

  LayerNorm(const Scope& scope, Index width)
      : weight(scope.parameter("weight", {width}, initialise::constant(1))),
        bias(scope.parameter("bias", {width}, initialise::constant(0))),
        reference(scope.reference()) {}
  Var operator()(const Var& x) const {
    return reference ? layer_norm_reference(x, weight, bias) : layer_norm(x, weight, bias);
  }
};

/// A residual connection round a sublayer f, and its norm (section 5.4): norm(x + dropout(f(x))), or with pre-norm
/// x + dropout(f(norm(x))). To see what each is for, either can be left out: no x +, no norm.
struct Residual {
  std::optional<LayerNorm> norm;
  Dropout dropout;
  bool pre_norm, residual;

  Residual(const Scope& scope, const std::string& number, const TransformerOptions& options)
      : dropout(scope / ("dropout" + number), options.dropout), pre_norm(options.pre_norm), residual(options.residual) {
    if (options.norm) norm.emplace(scope / ("norm" + number), options.width);
  }

  /// x [B,L,D], or one position [B,D] in inference.
  template <class F>
  Var operator()(const Var& x, const Pass& pass, F sublayer) const {
    const bool before = norm && pre_norm, after = norm && !pre_norm;
    if (after && residual) {
      const auto add = norm->reference ? add_norm_reference : add_norm;
      return add(sublayer(x), x, norm->weight, norm->bias, {dropout.rate(pass), dropout.key(pass)});
    }
    const Var fx = dropout(sublayer(before ? (*norm)(x) : x), pass), y = residual ? x + fx : fx;
    return after ? (*norm)(y) : y;
  }
};

/// relu(x W_1 + b_1) W_2 + b_2, at each position alone (section 3.3).
struct FeedForward {
  Linear linear1, linear2;
  Dropout dropout;
  bool gelu;

  FeedForward(const Scope& scope, const TransformerOptions& options);
  Var operator()(const Var& x, const Pass& pass) const;
};

/// Self-attention and feed-forward.
struct EncoderLayer {
  MultiHeadAttention self_attention;
  FeedForward feed_forward;
  Residual residual1, residual2;

  EncoderLayer(const Scope& scope, const TransformerOptions& options);
  /// x [B,S,D] -> [B,S,D]. `weights`, unless null, becomes the attention [B,H,S,S].
  Var operator()(const Var& x, const Mask& mask, const Pass& pass, Var* weights = nullptr) const;
  /// The next position under a causal mask, in inference: x [R,D] -> [R,D].
  Var step(const Var& x, core::KeyValueCache& cache, const core::Lineage& lineage) const;
};

/// As many layers as the options say, in the scopes layers.0, layers.1, ...
template <class Layer>
std::vector<Layer> stack_of(const Scope& scope, const TransformerOptions& options) {
  std::vector<Layer> layers;
  for (Index i = 0; i < options.layers; ++i) layers.emplace_back(scope / "layers" / std::to_string(i), options);
  return layers;
}

/// Self-attention to what was said, attention to the source, feed-forward.
struct DecoderLayer {
  MultiHeadAttention self_attention, cross_attention;
  FeedForward feed_forward;
  Residual residual1, residual2, residual3;

  /// The weights of both attentions: [B,H,T,T] and [B,H,T,S].
  struct Weights {
    Var self, cross;
  };

  DecoderLayer(const Scope& scope, const TransformerOptions& options);
  /// x [B,T,D] -> [B,T,D]; `memory` is what the cross-attention projected of the encoder's output.
  Var operator()(const Var& x, const MultiHeadAttention::Memory& memory, const Mask& self_mask, const Mask& memory_mask,
                 const Pass& pass, Weights* weights = nullptr) const;
  /// The next position, in inference: x [R,D], R = B K rows, K for each sentence of the memory -> [R,D]. The weights
  /// are then [R,H,L] and [B,H,K,S].
  Var step(const Var& x, core::KeyValueCache& cache, const core::Lineage& lineage,
           const MultiHeadAttention::Memory& memory, const Mask& memory_mask, Weights* weights = nullptr) const;
};

}  // namespace tapestry
