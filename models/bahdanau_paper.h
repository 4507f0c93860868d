#pragma once
// Bahdanau's attention model in the paper's form: Bahdanau, Cho and Bengio 2015, "Neural Machine Translation by Jointly
// Learning to Align and Translate", appendix A.

#include "models/encoder_decoder.h"
#include "nn/attention_pooling.h"

namespace tapestry {

/// What differs from the book's form:
///
///   encoder   bidirectional, so that h_j knows both sides of word j (A.2.1)
///   start     s_0 = tanh(W_s <-h_1), from the backward encoder, which has just read the first word (A.2.2)
///   context   enters every gate of the decoder: C, C_z and C_r are the columns of the cell's input weights for c_i
///   output    t~_i = U_o s_{i-1} + V_o E y_{i-1} + C_o c_i, t_i = the larger of each two neighbours (maxout, of
///             Goodfellow et al. 2013), logits W_o t_i
///
/// The decoder has one layer. Two liberties: the gates are PyTorch's (the reset gate acts after the recurrent product,
/// as in the later versions of the GRU), and linear maps have biases, which the paper leaves out "to increase
/// readability". Dropout, which the paper has not, acts on the embeddings and on t_i. With LSTM cells, which appendix
/// A.1.1 allows in place of its own, the decoder's c starts as that of the backward encoder.
class BahdanauPaper : public EncoderDecoder {
 public:
  BahdanauPaper(const ModelShape& shape, const Scope& scope);
  DecoderState encode(const Ids& source, const Ids& lengths, const Pass& pass) const override;
  Step step(const Ids& previous, DecoderState& state, const Pass& pass) const override;
  const Linear& output() const override { return output_; }

 private:
  Embedding source_embedding_;
  Dropout source_dropout_;
  Recurrent encoder_;
  Linear start_;
  AttentionPooling attention_;
  Embedding target_embedding_;
  Dropout target_dropout_;
  Recurrent decoder_;
  Linear readout_;  // U_o, V_o and C_o side by side: [2H, H+E+2H]
  Dropout readout_dropout_;
  Linear output_;
};

}  // namespace tapestry
