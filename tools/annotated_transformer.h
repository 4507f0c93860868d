#pragma once
// The Annotated Transformer (Rush 2018, Huang et al. 2022), as far as it differs from ours: it normalises before each
// sublayer by a norm of its own, and spreads smoothed labels in another way. Attention and feed-forward are our
// classes.

#include "nn/positional_encoding.h"
#include "tools/case_attention.h"

namespace tapestry::annotated {

/// a_2 (x - mean) / (deviation + epsilon) + b_2, with the unbiased deviation.
struct Norm {
  Var scale, shift;
  double epsilon;

  Norm(const Scope& scope, Index width, double epsilon_ = 1e-6);
  Var operator()(const Var& x) const;
};

/// x + f(norm(x)) for one or two attentions and the feed-forward layer.
class Layer {
 public:
  /// At `place` in the case, like its encoder's layers, or with `decoder` like its decoder's.
  Layer(OracleCase& c, const std::string& place, const TransformerOptions& options, bool decoder);
  /// x [B,L,D]; `memory` [B,S,D] only where the layer reads one.
  Var operator()(OracleCase& c, Var x, const CaseMask& mask, const Var& memory = {},
                 const CaseMask* memory_mask = nullptr) const;

 private:
  std::string place_;
  Index heads_;
  MultiHeadAttention self_attention_;
  std::vector<MultiHeadAttention> source_attention_;  // of a decoder's layer one, else none
  FeedForward feed_forward_;
  std::vector<Norm> norms_;
};

/// make_model with dropout 0.
class Model {
 public:
  explicit Model(OracleCase& c);
  /// Logits [B,T,V] of the source and the target before each step, under the masks of the case.
  Var operator()(OracleCase& c) const;

 private:
  Var embed(const Embedding& table, const Ids& ids) const;

  TransformerOptions options_;
  PositionalEncoding positions_;
  std::vector<Layer> encoder_, decoder_;
  Norm encoder_norm_, decoder_norm_;
  Embedding source_, target_;
  Linear generator_;
};

/// 1 - s at the target, s / (V - 2) at every other class but the padding, rows whose target is padding nothing: the sum
/// of KL divergences, with the entropy of that distribution. x [..,V].
Var label_smoothing(const Var& x, const Ids& targets, double smoothing, std::int32_t padding);

}  // namespace tapestry::annotated
