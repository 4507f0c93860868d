#pragma once
// Bahdanau's attention model in the book's form (Dive into Deep Learning, "Bahdanau Attention").

#include "models/seq2seq.h"
#include "nn/attention_pooling.h"

namespace tapestry {

/// Like Seq2Seq, but the context of each step is what attention reads from all states of the encoder, asked by the
/// decoder's top state before the step. Input of the decoder's layers: [context, embedding]. Scores: shape.score.
class Bahdanau : public EncoderDecoder {
 public:
  Bahdanau(const ModelShape& shape, const Scope& scope);
  DecoderState encode(const Ids& source, const Ids& lengths, const Pass& pass) const override;
  Step step(const Ids& previous, DecoderState& state, const Pass& pass) const override;
  const Linear& output() const override { return dense_; }

 private:
  RecurrentEncoder encoder_;
  AttentionPooling attention_;
  Embedding embedding_;
  Recurrent rnn_;
  Linear dense_;
};

}  // namespace tapestry
