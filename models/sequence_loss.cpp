#include "models/sequence_loss.h"

#include "autograd/loss.h"
#include "autograd/shape_ops.h"

namespace tapestry {

SequenceLoss sequence_loss(const EncoderDecoder& model, const Batch& batch, const Pass& pass, double label_smoothing) {
  const DecoderState state = model.encode(batch.source.ids, batch.source.lengths, pass);
  const Var features = model.teacher_forced(batch.inputs, state, pass).features;  // [B,T,F]
  CrossEntropyOptions options;
  options.reduction = Reduction::sum;
  options.ignore_index = Vocabulary::pad;
  options.label_smoothing = label_smoothing;
  const Linear& output = model.output();
  const auto loss = output.reference ? linear_cross_entropy_reference : linear_cross_entropy;
  auto [objective, nll, count] = loss(features, output.weight, output.bias, batch.target.ids, options);
  return {std::move(objective), nll};
}

}  // namespace tapestry
