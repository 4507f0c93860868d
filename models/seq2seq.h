#pragma once
// Sequence to sequence with a fixed context (Sutskever et al. 2014; Cho et al. 2014), in the book's form.

#include "models/encoder_decoder.h"

namespace tapestry {

/// The encoder of the book's recurrent models: an embedding and recurrent layers, in one direction or, which the book
/// has not, in both. Parameters `embedding.weight`, `rnn.*`.
class RecurrentEncoder {
 public:
  RecurrentEncoder(const Scope& scope, const ModelShape& shape)
      : directions_(shape.bidirectional ? 2 : 1),
        embedding_(scope / "embedding", shape.source_vocabulary, shape.embed),
        rnn_(scope / "rnn", shape.embed, shape.hidden, {shape.cell, shape.layers, shape.bidirectional, shape.dropout}) {
  }

  struct Output {
    Var sequence;                       // [B,S,W]
    Var summary;                        // [B,W], the top layer's last states
    std::vector<RecurrentState> start;  // [B,H] of each layer, for a decoder
  };
  /// With two directions a layer of the decoder starts from the backward one's last state: it has just read the first
  /// word, as in Bahdanau's paper. (No matrix lies between: the decoder's widths are the encoder's.)
  Output operator()(const Ids& source, const Ids& lengths, const Pass& pass) const;

  /// W: H, or with two directions 2H, forward half first.
  Index width() const { return directions_ * rnn_.hidden(); }

 private:
  Index directions_;
  Embedding embedding_;
  Recurrent rnn_;
};

/// The decoder starts from the encoder's last states and is given, beside each token, the top one as its context:
/// one vector must hold the whole sentence. Input of the decoder's layers: [embedding, context].
class Seq2Seq : public EncoderDecoder {
 public:
  Seq2Seq(const ModelShape& shape, const Scope& scope);
  DecoderState encode(const Ids& source, const Ids& lengths, const Pass& pass) const override;
  Step step(const Ids& previous, DecoderState& state, const Pass& pass) const override;
  /// No step waits for what another attends to, so the decoder runs over the whole sequence.
  Forced teacher_forced(const Ids& inputs, DecoderState state, const Pass& pass, bool attention) const override;
  const Linear& output() const override { return dense_; }

 private:
  RecurrentEncoder encoder_;
  Embedding embedding_;
  Recurrent rnn_;
  Linear dense_;
};

}  // namespace tapestry
