#pragma once
// Layer normalisation.

#include "autograd/var.h"

namespace tapestry {

/// (x - mean) / sqrt(variance + epsilon) * weight + bias, mean and (biased) variance over the last `axes` axes
/// together; weight and bias have the shape of those axes, and either may be absent. Ba, Kiros and Hinton 2016, "Layer
/// Normalization". Errors: `layer_norm: ...` more axes than x has, or another shape of weight or bias.
Var layer_norm(const Var& x, const Var& weight, const Var& bias, int axes = 1, double epsilon = 1e-5);

/// The same from plain ops.
Var layer_norm_reference(const Var& x, const Var& weight, const Var& bias, int axes = 1, double epsilon = 1e-5);

}  // namespace tapestry
