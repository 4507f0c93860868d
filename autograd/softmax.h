#pragma once
// Differentiable softmax. A row that has nothing to attend to (nothing allowed, or -infinity throughout) gives zeros
// and zero gradient, never NaN.

#include "autograd/var.h"
#include "core/mask.h"

namespace tapestry {

/// e^x_i / sum_j e^x_j along the axis.
Var softmax(const Var& x, int axis = -1);
/// Its logarithm, exact where the softmax itself would underflow.
Var log_softmax(const Var& x, int axis = -1);
/// The softmax of scores [B,K] (one query a sentence, number 0), [B,Q,K] or [B,H,Q,K] over the keys the mask allows,
/// and zero elsewhere. Errors: another rank, or lengths of the mask that do not fit.
Var masked_softmax(const Var& scores, const Mask& mask);

}  // namespace tapestry
