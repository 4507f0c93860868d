#pragma once
// Softmax of rows: e^(x_i - m) / sum_j e^(x_j - m), with m the row's maximum, so that nothing overflows. A row that has
// nothing to attend to (empty, or -infinity throughout) gives zeros and no gradient.

#include "core/mask.h"
#include "core/tensor.h"

namespace tapestry::core {

/// One row. y may be x.
template <class T>
void softmax_row(Index n, const T* x, T* y);
/// dx_i = y_i (dy_i - sum_j dy_j y_j). dx may be dy.
template <class T>
void softmax_backward_row(Index n, const T* dy, const T* y, T* dx);

/// Over the last axis. Errors: a scalar.
Tensor softmax(const Tensor& x);
Tensor softmax_backward(const Tensor& dy, const Tensor& y);

/// log softmax = x_i - m - log sum_j e^(x_j - m).
Tensor log_softmax(const Tensor& x);
/// dx_i = dy_i - e^(y_i) sum_j dy_j.
Tensor log_softmax_backward(const Tensor& dy, const Tensor& y);

/// Over the keys each query may see: scores [B,K] (one query a sentence, number 0), [B,Q,K] or [B,H,Q,K]; zeros
/// elsewhere. Errors: another rank, or lengths that do not fit.
Tensor masked_softmax(const Tensor& scores, const Mask& mask);
Tensor masked_softmax_backward(const Tensor& dy, const Tensor& y, const Mask& mask);

}  // namespace tapestry::core
