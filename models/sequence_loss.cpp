#include "models/sequence_loss.h"

#include "autograd/loss.h"
#include "autograd/shape_ops.h"

namespace tapestry {

SequenceLoss sequence_loss(const EncoderDecoder& model, const Batch& batch, const Pass& pass, double label_smoothing) {
  const DecoderState state = model.encode(batch.source.ids, batch.source.lengths, pass);
  return output_loss(model.teacher_forced(batch.inputs, state, pass).features, model.output(), batch.target.ids,
                     label_smoothing);
}

SequenceLoss output_loss(const Var& features, const Linear& output, const Ids& targets, double label_smoothing) {
  CrossEntropyOptions options;
  options.reduction = Reduction::sum;
  options.ignore_index = Vocabulary::pad;
  options.label_smoothing = label_smoothing;
  const auto loss = output.reference ? linear_cross_entropy_reference : linear_cross_entropy;
  auto [objective, nll, count] = loss(features, output.weight, output.bias, targets, options);
  return {std::move(objective), nll};
}

}  // namespace tapestry
