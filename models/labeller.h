#pragma once
// Models that read a sequence and say one label of it (N to 1), or one of each of its tokens (N to N).

#include "core/workers.h"
#include "models/decoding.h"
#include "models/encoder_stack.h"
#include "models/sequence_loss.h"
#include "nn/recurrent.h"

namespace tapestry {

struct LabellerShape {
  std::string encoder = "gru";  // one of labeller_encoders()
  bool each = false;            // a label of each token; otherwise one of the whole
  Index vocabulary = 0, labels = 0;
  Index embed = 32, hidden = 32, layers = 1;  // of the GRU
  double dropout = 0;
  TransformerOptions transformer = {};
  PositionOptions positions = {};
};
/// gru, transformer.
const std::vector<std::string>& labeller_encoders();

/// An encoder that reads both ways, a bidirectional GRU or the Transformer's, and a linear layer on what it made of
/// each token. For a label of the whole the layer reads the last state of each direction of the GRU, or the mean of the
/// Transformer's outputs. Parameters embed.weight, rnn.*, or those of EncoderStack; out.weight, out.bias.
class Labeller {
 public:
  /// Errors (UsageError): an unknown encoder.
  Labeller(const LabellerShape& shape, const Scope& scope);

  /// What labels are made of: [B,L,F], or [B,1,F] of the whole. Padding changes nothing.
  Var operator()(const PaddedIds& tokens, const Pass& pass) const;
  /// features [..,F] -> logits [..,labels].
  const Linear& output() const { return output_; }

 private:
  Var whole(const Var& x, const Ids& lengths) const;

  bool each_;
  std::optional<Embedding> embedding_;
  std::optional<Recurrent> rnn_;
  std::optional<EncoderStack> stack_;
  Linear output_;
};

/// The loss of a batch whose targets are the labels.
SequenceLoss labelling_loss(const Labeller& model, const Batch& batch, const Pass& pass);

/// The most probable labels of each example's source.
std::vector<TokenIds> label(const Labeller& model, const std::vector<Example>& examples, core::Workers& workers);

/// Shares, 0 to 1, of the labels that are right and of the sequences that have no wrong one.
struct LabelScore {
  double labels = 0, sequences = 0;
};
/// Errors: nothing to score, or another number of labels.
LabelScore score_labels(const std::vector<TokenIds>& said, const std::vector<Example>& examples);

}  // namespace tapestry
