#pragma once
// The Transformer (Vaswani et al. 2017, "Attention Is All You Need").

#include "models/encoder_decoder.h"

namespace tapestry {

/// Embeddings times sqrt(D) plus positions, dropout, a stack of encoder layers, a stack of decoder layers that read its
/// output, and a linear layer to the logits, which may share its weight with the embeddings (section 3.4). Parameters
/// src_embed.weight, tgt_embed.weight (and with learned positions {src,tgt}_embed.positions.weight),
/// transformer.{encoder,decoder}.{layers.N,norm}.*, out.weight and, unless it is tied, out.bias.
class Transformer : public EncoderDecoder {
 public:
  /// Errors: an odd width, or one that the heads do not divide; embeddings to be shared by vocabularies that differ.
  Transformer(const ModelShape& shape, const Scope& scope);

  DecoderState encode(const Ids& source, const Ids& lengths, const Pass& pass) const override;
  /// One position from the cache, in inference. The attention is that of `cross_attention`.
  Step step(const Ids& previous, DecoderState& state, const Pass& pass) const override;
  void select(DecoderState& state, const Ids& parents, const Ids& sentences) const override;
  /// All positions at once, under a causal mask.
  Forced teacher_forced(const Ids& inputs, DecoderState state, const Pass& pass, bool attention) const override;
  const Linear& output() const override { return output_; }
  Index most_steps() const override { return target_positions_.most(); }

  /// The attention weights of every layer and head: encoder [B,H,S,S], decoder [B,H,T,T] and [B,H,T,S].
  struct Weights {
    std::vector<Var> encoder;
    std::vector<DecoderLayer::Weights> decoder;
  };
  /// What the overridden ones do; `weights`, unless null, is filled. In a step the decoder's are [R,H,L] and [B,H,K,S].
  DecoderState encode(const Ids& source, const Ids& lengths, const Pass& pass, Weights* weights) const;
  /// [B,T,D]. `lengths` [B] hides the padding of the inputs too; absent, only what follows is hidden, which for real
  /// tokens is the same.
  Var decode(const Ids& inputs, const DecoderState& state, const Pass& pass, Weights* weights,
             const Ids& lengths = {}) const;
  Var step(const Ids& previous, DecoderState& state, Weights* weights) const;  // [R,D]

  /// The one picture of many: attention to the source in the last but one decoder layer, mean of the heads, which is
  /// where an alignment shows best (Garg et al. 2019, section 3). [B,T,S].
  static Var cross_attention(const Weights& weights);

 private:
  double scale_;
  Embedding source_, target_;
  Positions source_positions_, target_positions_;
  Dropout source_dropout_, target_dropout_;
  std::vector<EncoderLayer> encoder_;
  std::vector<DecoderLayer> decoder_;
  std::vector<LayerNorm> final_norms_;  // none, or of the encoder and of the decoder
  Linear output_;
};

}  // namespace tapestry
