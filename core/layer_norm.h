#pragma once
// Layer normalisation of rows (Ba, Kiros and Hinton 2016), with the biased variance and epsilon inside the root:
//
//   y = n * weight + bias,   n = (x - mean) / sqrt(variance + epsilon)

#include "core/tensor.h"

namespace tapestry::core {

/// What backward needs: n, and 1 / sqrt(variance + epsilon) of each row.
struct Normalised {
  Tensor rows;   // [N,D]
  Tensor scale;  // [N]
};

/// x of any shape, read as rows of D elements; weight and bias of D elements, either or both absent. Mean and variance
/// are gathered in f64 and in two passes: rows far from zero lose no digits. Fills `saved` unless that is null.
Tensor layer_norm(const Tensor& x, Index width, const Tensor& weight, const Tensor& bias, double epsilon,
                  Normalised* saved);

/// With g = dy * weight:  dx = (g - mean(g) - n mean(g n)) / sqrt(variance + epsilon).
Tensor layer_norm_backward(const Tensor& dy, const Tensor& weight, const Normalised& saved);
/// target [D] += the sum over rows of dy * n: the gradient of the weight.
void layer_norm_backward_weight(const Tensor& target, const Tensor& dy, const Normalised& saved);

}  // namespace tapestry::core
