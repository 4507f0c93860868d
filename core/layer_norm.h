#pragma once
// Layer normalisation of rows (Ba, Kiros and Hinton 2016), with the biased variance and epsilon inside the root, of a
// sum:
//
//   s = residual + dropout(x)      n = (s - mean) / sqrt(variance + epsilon)      y = n * weight + bias
//
// That is how each sublayer of the Transformer ends. Without a residual and dropout it is the plain layer.

#include "core/dropout.h"
#include "core/tensor.h"

namespace tapestry::core {

struct LayerNormInputs {
  Tensor x;             // of any shape, read as rows of `width` elements
  Tensor residual;      // of x's shape, or absent
  Tensor weight, bias;  // of `width` elements, either or both absent
  Index width = 0;
  double epsilon = 1e-5;
  BitMask kept = {};  // what dropout keeps of x, scaled by `kept_scale`; empty: all
  double kept_scale = 1;
};

/// What backward needs.
struct LayerNormSaved {
  Tensor normalised;  // n, of x's shape
  Tensor scale;       // 1 / sqrt(variance + epsilon) of each row
  Tensor weight;
  BitMask kept;
  double kept_scale = 1;
};

struct LayerNormResult {
  Tensor y;
  LayerNormSaved saved;  // if asked for
};

/// Mean and variance are taken in two passes, from the rows' own neighbourhood: rows far from zero lose no digits.
LayerNormResult layer_norm(const LayerNormInputs& inputs, bool save);

/// Gradients by x and by the residual: new tensors, absent where not wanted.
struct LayerNormGradients {
  Tensor x, residual;
};
/// With g = dy * weight:  ds = (g - mean(g) - n mean(g n)) / sqrt(variance + epsilon). Adds the gradients of weight and
/// bias to `dweight` and `dbias` unless they are absent.
LayerNormGradients layer_norm_backward(const LayerNormSaved& saved, const Tensor& dy, bool wants_x, bool wants_residual,
                                       const Tensor& dweight, const Tensor& dbias);

}  // namespace tapestry::core
