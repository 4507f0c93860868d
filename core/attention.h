#pragma once
// Additive attention, from projected queries and keys to the context.

#include "core/dropout.h"
#include "core/mask.h"
#include "core/tensor.h"

namespace tapestry::core {

/// Projected queries [B,Q,A] and keys [B,K,A], w_v [A] (or [1,A]), values [B,K,D]; the keys each query may see; and
/// which of the weights [B,Q,K] dropout keeps (an empty mask: all), scaled by `scale`.
struct AdditiveAttentionInputs {
  Tensor query, keys, w_v, values;
  Mask mask;
  BitMask kept = {};
  double scale = 1;

  /// Errors name `op` and what does not fit.
  void check(const char* op) const;
};

struct AdditiveAttentionResult {
  Tensor context;  // [B,Q,D]
  Tensor weights;  // [B,Q,K], before dropout
  Tensor tanhs;    // [B,Q,K,A], or absent: backward computes them again
};

/// Bahdanau, Cho and Bengio 2015, section 3.1 and A.1.2, for each query over the keys it may see:
///
///   score_k = w_v . tanh(q + key_k)      weights = softmax(score)      context = sum_k dropout(weight_k) value_k
///
/// A query that sees no key gets zeros. With `keep` what only backward needs is stored if it is small.
AdditiveAttentionResult additive_attention(const AdditiveAttentionInputs& inputs, bool keep);

/// Where gradients are accumulated; absent where nobody wants one.
struct AdditiveAttentionGradients {
  Tensor query, keys, w_v, values;
};

/// Adds the gradients for the cotangents of the context and of the weights, either of them absent.
void additive_attention_backward(const AdditiveAttentionInputs& inputs, const AdditiveAttentionResult& result,
                                 const Tensor& dcontext, const Tensor& dweights,
                                 const AdditiveAttentionGradients& gradients);

}  // namespace tapestry::core
