#pragma once
// Layer normalisation.

#include "autograd/dropout.h"

namespace tapestry {

/// (x - mean) / sqrt(variance + epsilon) * weight + bias, mean and (biased) variance over the last `axes` axes
/// together; weight and bias have the shape of those axes, and either may be absent. Ba, Kiros and Hinton 2016, "Layer
/// Normalization". Errors: `layer_norm: ...` more axes than x has, or another shape of weight or bias.
Var layer_norm(const Var& x, const Var& weight, const Var& bias, int axes = 1, double epsilon = 1e-5);

/// The same from plain ops.
Var layer_norm_reference(const Var& x, const Var& weight, const Var& bias, int axes = 1, double epsilon = 1e-5);

struct AddNormOptions {
  double p = 0;  // dropout of x
  DropoutKey key = {};
  double epsilon = 1e-5;
};

/// layer_norm(residual + dropout(x)) over the last axis, "Add & Norm" of Vaswani et al. 2017, figure 1 and section 5.4:
/// how a sublayer's output x meets its input. x and residual of one shape. Errors: sizes that do not fit together.
Var add_norm(const Var& x, const Var& residual, const Var& weight, const Var& bias, const AddNormOptions& options = {});

/// The same from plain ops.
Var add_norm_reference(const Var& x, const Var& residual, const Var& weight, const Var& bias,
                       const AddNormOptions& options = {});

}  // namespace tapestry
