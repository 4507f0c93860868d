#include "autograd/convolution.h"

#include <algorithm>

#include "autograd/ops.h"
#include "autograd/record.h"

namespace tapestry {

// The derivation of backward stands beside the kernel.
Var conv1d(const Var& x, const Var& weight, const Var& bias, const ConvolutionPlan& plan, const Ids& lengths) {
  core::Conv1dInputs in{x.value(), weight.value(), bias.value(), plan, lengths};
  in.check("conv1d");
  const Tensor y = core::conv1d(in);
  return record("conv1d", y, {x, weight, bias}, [in = std::move(in)](const Tensor& dy, Grads& dx) {
    core::conv1d_backward(in, dy, {dx.into_if_wanted(0), dx.into_if_wanted(1), dx.into_if_wanted(2)});
  });
}

Var conv1d_reference(const Var& x, const Var& weight, const Var& bias, const ConvolutionPlan& plan,
                     const Ids& lengths) {
  const core::Conv1dInputs in{x.value(), weight.value(), bias.value(), plan, lengths};
  const Index positions = in.positions(x.size(1));
  // Zeros beyond the end of each sequence [B,T,*]: at its length, or where its results end.
  const auto ended = [&](const Var& sequences, auto end) {
    if (!lengths) return sequences;
    std::vector<std::int32_t> beyond;
    for (Index b = 0; b < x.size(0); ++b)
      for (Index t = 0; t < sequences.size(1); ++t) beyond.push_back(t >= end(in.length(b)));
    return masked_fill(sequences, Ids(std::move(beyond), {x.size(0), sequences.size(1), 1}), 0);
  };
  const Var around = pad(ended(x, [](Index length) { return length; }), 1, plan.left, plan.right);
  Var y = bias;
  for (Index j = 0; j < weight.size(2); ++j) {
    const Index begin = std::min(j * plan.dilation, around.size(1) - positions);  // of no positions, within
    const Var part = matmul(slice(around, 1, begin, begin + positions), transpose(select(weight, 2, j), 0, 1));
    y = y ? y + part : part;
  }
  return ended(y, [&](Index length) { return in.positions(length); });
}

}  // namespace tapestry
