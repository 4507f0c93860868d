#pragma once
// Scaled dot-product attention of several heads (Vaswani et al. 2017, equation 1 and section 3.2.2).

#include <vector>

#include "core/dropout.h"
#include "core/mask.h"
#include "core/tensor.h"

namespace tapestry::core {

/// Heads where a projection left them: head h of a position is columns [column + h * width, column + (h + 1) * width)
/// of x [B,L,*]. Nothing is copied into an order by heads.
struct HeadColumns {
  Tensor x;
  Index column = 0;
};

struct ScaledDotProductInputs {
  HeadColumns query, keys, values;  // [B,Q,*], [B,K,*], [B,K,*]
  Index heads = 1;
  Index width = 0;        // of one head of the queries and keys
  Index value_width = 0;  // of one head of the values
  Mask mask;
  std::vector<BitMask> kept = {};  // for each head, which of the weights [B,Q,K] dropout keeps; none: all
  double kept_scale = 1;

  /// Errors name `op` and what does not fit.
  void check(const char* op) const;
};

struct ScaledDotProductResult {
  Tensor context;  // [B,Q,heads * value_width]
  Tensor weights;  // [B,H,Q,K] before dropout, or absent
  Tensor saved;    // the weights as backward reads them, or absent: then it computes them again
};

/// For each head, over the keys its mask allows:
///
///   weights = softmax(q . k / sqrt(width))      context = dropout(weights) values
///
/// Heads stand side by side in the context. A query that sees no key gets zeros. By blocks of queries, each with the
/// span of keys that any of them sees, so that neither the scores of a long sequence nor what a window hides is ever
/// computed whole. With `save`, what backward needs is kept as long as it is no larger than a row of 128 keys a query.
ScaledDotProductResult scaled_dot_product(const ScaledDotProductInputs& inputs, bool weights, bool save);

/// Where gradients are accumulated, in the same columns; absent where nobody wants one.
struct ScaledDotProductGradients {
  Tensor query, keys, values;
};

/// Adds the gradients for the cotangents of the context and of the weights, either of them absent.
void scaled_dot_product_backward(const ScaledDotProductInputs& inputs, const Tensor& saved, const Tensor& dcontext,
                                 const Tensor& dweights, const ScaledDotProductGradients& gradients);

}  // namespace tapestry::core
