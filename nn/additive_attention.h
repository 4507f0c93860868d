#pragma once
// Bahdanau's attention: which source positions does a decoder state look at?

#include "autograd/attention.h"
#include "nn/dropout.h"
#include "nn/linear.h"

namespace tapestry {

/// score(q, k) = w_v . tanh(W_q q + W_k k), weights = softmax over the keys a query may see, context = weights V.
/// Bahdanau et al. 2015, section A.1.2 (their W_a, U_a and v_a). Names as the book's code; no biases.
struct AdditiveAttention {
  Linear w_k, w_q;
  Var w_v;  // [1,A]
  Dropout dropout;
  bool reference;

  AdditiveAttention(const Scope& scope, Index key, Index query, Index hidden, double dropout_rate = 0)
      : w_k(scope / "W_k", key, hidden, false),
        w_q(scope / "W_q", query, hidden, false),
        w_v((scope / "w_v").parameter("weight", {1, hidden}, initialise::xavier_uniform())),
        dropout(scope / "dropout", dropout_rate),
        reference(scope.reference()) {}

  /// The half of the score that only depends on the keys [B,K,key]: [B,K,A]. Once a sentence, not once a step.
  Var project(const Var& keys) const { return w_k(keys); }

  /// queries [B,Q,query], projected keys [B,K,A], values [B,K,D]. A query that may see no key gets a context of zeros.
  /// The result's weights [B,Q,K] are those before dropout; `position` is the time step of the first query.
  AttentionOutput operator()(const Var& queries, const Var& projected, const Var& values, const Mask& mask,
                             const Pass& pass, Index position = 0) const {
    const auto attend = reference ? additive_attention_reference : additive_attention;
    return attend(w_q(queries), projected, w_v, values, mask, dropout.rate(pass), dropout.key(pass, position));
  }
};

}  // namespace tapestry
