#pragma once
// Losses.

#include "autograd/var.h"
#include "core/cross_entropy.h"

namespace tapestry {

using core::CrossEntropyOptions;
using core::Reduction;

/// The mean of squares (or their sum, or each of them): (input - target)^2, both of one shape.
Var mse_loss(const Var& input, const Var& target, Reduction reduction = Reduction::mean);

/// -log softmax(logits)[target], with PyTorch's definitions of what the options say (core/cross_entropy.h has the
/// formula). logits [..., V], one target each [...]; the result is a scalar, or [...] without reduction.
/// Errors: a target outside of [0, V) that is not the ignored one; shapes that do not fit.
Var cross_entropy(const Var& logits, const Ids& targets, const CrossEntropyOptions& options = {});

struct LossOutput {
  Var objective;    // the sum or the mean that is minimised: smoothed, weighted
  double nll = 0;   // the sum of plain negative log-likelihoods, in nats: what is reported
  Index count = 0;  // of rows that are not ignored
};

/// The cross-entropy of linear(x, weight, bias): x [..., D], weight [V,D], bias [V] or absent, targets [...]. Logits
/// exist for a block of rows at a time, and rows that are ignored are skipped. If something records, the forward pass
/// computes the gradients with the loss, and backward only scales them. Errors as of cross_entropy; no reduction.
LossOutput linear_cross_entropy(const Var& x, const Var& weight, const Var& bias, const Ids& targets,
                                const CrossEntropyOptions& options = {});

/// The same from plain ops.
Var cross_entropy_reference(const Var& logits, const Ids& targets, const CrossEntropyOptions& options = {});
LossOutput linear_cross_entropy_reference(const Var& x, const Var& weight, const Var& bias, const Ids& targets,
                                          const CrossEntropyOptions& options = {});

}  // namespace tapestry
