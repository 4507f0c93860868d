#pragma once
// Attention as single ops.

#include "autograd/dropout.h"
#include "autograd/var.h"
#include "core/mask.h"

namespace tapestry {

struct AttentionOutput {
  Var context;  // [B,Q,D]
  Var weights;  // [B,Q,K]: what was attended to, before dropout
};

/// Additive attention (Bahdanau, Cho and Bengio 2015, section 3.1 and A.1.2): how well a state of the decoder fits each
/// source position is asked of a small network.
///
///   score_k = w_v . tanh(query + key_k)    weights = softmax over the keys the mask allows    context = sum_k w_k
///   value_k
///
/// Projected queries [B,Q,A] and keys [B,K,A], w_v [1,A] (a Linear's weight) or [A], values [B,K,D]. Dropout with
/// probability p acts on the weights (position = query, feature = key) on their way to the context. A query that may
/// see no key gets zeros, and gives zero gradient. Errors: shapes that do not fit together; p outside [0, 1].
AttentionOutput additive_attention(const Var& query, const Var& keys, const Var& w_v, const Var& values,
                                   const Mask& mask = {}, double p = 0, const DropoutKey& key = {});

/// The same from plain ops.
AttentionOutput additive_attention_reference(const Var& query, const Var& keys, const Var& w_v, const Var& values,
                                             const Mask& mask = {}, double p = 0, const DropoutKey& key = {});

}  // namespace tapestry
