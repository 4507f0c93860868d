#pragma once
// Differentiable products of matrices.

#include "autograd/dropout.h"

namespace tapestry {

/// a [..., m, k] times b [..., k, n]: [..., m, n]; leading axes broadcast. A vector [k] stands for the row [1, k] on
/// the left and the column [k, 1] on the right, and that axis is taken away from the result. Errors: `matmul: inner
/// sizes must match ...`.
Var matmul(const Var& a, const Var& b);

/// Rows [begin, end) of a weight [out, in] and of its bias: one of several layers that a parameter holds; by default
/// all.
struct RowRange {
  Index begin = 0, end = -1;
};

/// x [..., in] weight^T + bias: [..., out], for weight [out, in] and bias [out], which may be absent.
/// The bias is laid down first and the product accumulates onto it. Errors: sizes do not fit.
Var linear(const Var& x, const Var& weight, const Var& bias, const RowRange& rows = {});

/// The same of plain ops: what `linear` has to equal.
Var linear_reference(const Var& x, const Var& weight, const Var& bias, const RowRange& rows = {});

/// dropout(relu(linear(x, weight, bias))): the first half of a position-wise feed-forward layer (Vaswani et al. 2017,
/// equation 2). Only the result is kept: it is above zero exactly where the gradient passes.
Var linear_relu(const Var& x, const Var& weight, const Var& bias, double p = 0, const DropoutKey& key = {});

/// The same of plain ops.
Var linear_relu_reference(const Var& x, const Var& weight, const Var& bias, double p = 0, const DropoutKey& key = {});

}  // namespace tapestry
