#pragma once
// Sequence to sequence with a fixed context (Sutskever et al. 2014; Cho et al. 2014), in the book's form.

#include "models/encoder_decoder.h"
#include "nn/gru.h"

namespace tapestry {

/// The encoder of the book's recurrent models: an embedding and a GRU. Parameters `embedding.weight`, `rnn.*`.
struct GruEncoder {
  Embedding embedding;
  Gru rnn;

  GruEncoder(const Scope& scope, const ModelShape& shape)
      : embedding(scope / "embedding", shape.source_vocabulary, shape.embed),
        rnn(scope / "rnn", shape.embed, shape.hidden, {shape.layers, false, shape.dropout}) {}

  Gru::Output operator()(const Ids& source, const Ids& lengths, const Pass& pass) const {
    return rnn(embedding(source), {}, lengths, pass);
  }
};

/// The decoder starts from the encoder's final states and is given, beside each token, the top one as its context:
/// one vector must hold the whole sentence. Input of the GRU: [embedding, context].
class Seq2Seq : public EncoderDecoder {
 public:
  Seq2Seq(const ModelShape& shape, const Scope& scope);
  DecoderState encode(const Ids& source, const Ids& lengths, const Pass& pass) const override;
  Step step(const Ids& previous, DecoderState& state, const Pass& pass) const override;
  /// No step waits for what another attends to, so the GRU runs over the whole sequence.
  Forced teacher_forced(const Ids& inputs, DecoderState state, const Pass& pass, bool attention) const override;
  const Linear& output() const override { return dense_; }

 private:
  GruEncoder encoder_;
  Embedding embedding_;
  Gru rnn_;
  Linear dense_;
};

}  // namespace tapestry
