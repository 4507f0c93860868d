#pragma once
// Attention as single ops.

#include "autograd/dropout.h"
#include "autograd/var.h"
#include "core/mask.h"

namespace tapestry {

struct AttentionOutput {
  Var context;  // [B,Q,D]
  Var weights;  // [B,Q,K], of several heads [B,H,Q,K]: what was attended to, before dropout
};

/// Additive attention (Bahdanau, Cho and Bengio 2015, section 3.1 and A.1.2): how well a state of the decoder fits each
/// source position is asked of a small network.
///
///   score_k = w_v . tanh(query + key_k)
///   weights = softmax of the scores over the keys that the mask allows
///   context = sum_k weights_k value_k
///
/// Projected queries [B,Q,A] and keys [B,K,A], w_v [1,A] (a Linear's weight) or [A], values [B,K,D]. Dropout with
/// probability p acts on the weights (position = query, feature = key) on their way to the context. A query that may
/// see no key gets zeros, and gives zero gradient. Errors: shapes that do not fit together; p outside [0, 1].
AttentionOutput additive_attention(const Var& query, const Var& keys, const Var& w_v, const Var& values,
                                   const Mask& mask = {}, double p = 0, const DropoutKey& key = {});

/// The same from plain ops.
AttentionOutput additive_attention_reference(const Var& query, const Var& keys, const Var& w_v, const Var& values,
                                             const Mask& mask = {}, double p = 0, const DropoutKey& key = {});

/// What a linear layer projected for several heads: columns [column, column + heads * width) of x [B,L,*], head after
/// head. One projection may hold queries, keys and values side by side.
struct Projected {
  Var x;
  Index column = 0;
};

struct HeadOptions {
  Index heads = 1;
  Index width = 0;        // of one head of queries and keys
  Index value_width = 0;  // of one head of values; 0: as wide
  Mask mask = {};
  double p = 0;  // dropout of the weights, for head h from stream key.stream + h (position = query, feature = key)
  DropoutKey key = {};
  bool weights = false;  // whether the weights are wanted; without, they are not kept
};

/// Scaled dot-product attention of several heads (Vaswani et al. 2017, equation 1):
///
///   weights = softmax(query . key / sqrt(width)) over the keys that the mask allows
///   context = sum of weights * value, heads side by side: [B,Q,heads * value_width]
///
/// A query that may see no key gets zeros, and gives zero gradient. Within Mask::window(r) (restricted self-attention,
/// section 4) only bands of keys are computed: time O(n (r + 64) width), and without the weights memory O(n). Errors:
/// sizes that do not fit together.
AttentionOutput scaled_dot_product_attention(const Projected& query, const Projected& keys, const Projected& values,
                                             const HeadOptions& options);

/// The same from plain ops.
AttentionOutput scaled_dot_product_attention_reference(const Projected& query, const Projected& keys,
                                                       const Projected& values, const HeadOptions& options);

}  // namespace tapestry
