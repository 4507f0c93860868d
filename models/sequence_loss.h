#pragma once
// The loss of a batch under teacher forcing.

#include "models/batch.h"
#include "models/encoder_decoder.h"

namespace tapestry {

struct SequenceLoss {
  Var objective;   // what is minimised: the sum over the real target tokens, in nats, with smoothed labels
  double nll = 0;  // what is reported: the sum of -log p, whatever the smoothing
};

/// Encodes, decodes with the true tokens and compares. The logits never exist whole, unless the model was built to
/// compute with the composed twins. `label_smoothing` e asks for the target's distribution 1 - e on the token itself
/// and e / V more on each of the V words, itself included (Szegedy et al. 2015, as PyTorch has it).
SequenceLoss sequence_loss(const EncoderDecoder& model, const Batch& batch, const Pass& pass,
                           double label_smoothing = 0);

}  // namespace tapestry
