#pragma once
// Differentiable products of matrices.

#include "autograd/var.h"

namespace tapestry {

/// a [..., m, k] times b [..., k, n]: [..., m, n]; leading axes broadcast. A vector [k] stands for the row [1, k] on
/// the left and the column [k, 1] on the right, and that axis is taken away from the result. Errors: `matmul: inner
/// sizes must match ...`.
Var matmul(const Var& a, const Var& b);

/// x [..., in] weight^T + bias: [..., out], for weight [out, in] and bias [out], which may be absent.
/// The bias is laid down first and the product accumulates onto it. Errors: sizes do not fit.
Var linear(const Var& x, const Var& weight, const Var& bias);

/// The same of plain ops: what `linear` has to equal.
Var linear_reference(const Var& x, const Var& weight, const Var& bias);

}  // namespace tapestry
