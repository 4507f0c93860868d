#pragma once
// The loss of a batch under teacher forcing.

#include "models/batch.h"
#include "models/encoder_decoder.h"

namespace tapestry {

struct SequenceLoss {
  Var objective;   // what is minimised: the sum of -log p over the real target tokens, in nats
  double nll = 0;  // what is reported: the same sum, as a number
};

/// Encodes, decodes with the true tokens and compares. The logits never exist whole, unless the model was built to
/// compute with the composed twins.
SequenceLoss sequence_loss(const EncoderDecoder& model, const Batch& batch, const Pass& pass);

}  // namespace tapestry
