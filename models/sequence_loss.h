#pragma once
// The loss of a batch under teacher forcing.

#include <functional>

#include "models/batch.h"
#include "models/encoder_decoder.h"

namespace tapestry {

struct SequenceLoss {
  Var objective;   // what is minimised: the sum over the real target tokens, in nats, with smoothed labels
  double nll = 0;  // what is reported: the sum of -log p, whatever the smoothing
};

/// The loss of a batch, whatever the model.
using BatchLoss = std::function<SequenceLoss(const Batch&, const Pass&)>;

/// Encodes, decodes with the true tokens and compares. The logits never exist whole, unless the model was built to
/// compute with the composed twins. `label_smoothing` e asks for the target's distribution 1 - e on the token itself
/// and e / V more on each of the V words, itself included (Szegedy et al. 2015, as PyTorch has it).
SequenceLoss sequence_loss(const EncoderDecoder& model, const Batch& batch, const Pass& pass,
                           double label_smoothing = 0);

/// The same of features [..,F] that an output layer makes logits of, and the tokens [..] that they are to say; <pad>
/// does not count.
SequenceLoss output_loss(const Var& features, const Linear& output, const Ids& targets, double label_smoothing = 0);

}  // namespace tapestry
