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
  std::vector<BitMask> kept = {};  // for each head, which of the weights in the bands [B,Q,band()] dropout keeps
  double kept_scale = 1;           // ... and scales; none: all

  /// Queries are computed by blocks of so many, each against its band: the keys that any of them may see, without
  /// regard to lengths. What is outside is never touched.
  static constexpr Index block_queries = 64;
  /// The first key of the band of query q's block, a multiple of 16; that of each query; and how many keys the widest
  /// band has.
  Index first_key(Index q) const;
  std::vector<Index> first_keys() const;
  Index band() const;

  /// Errors name `op` and what does not fit.
  void check(const char* op) const;
};

struct ScaledDotProductResult {
  Tensor context;  // [B,Q,heads * value_width]
  Tensor weights;  // [B,H,Q,K] before dropout, or absent
  Tensor saved;    // the weights in their bands, for backward, or absent: then it computes them again
};

/// For each head, over the keys its mask allows:
///
///   weights = softmax(q . k / sqrt(width))      context = dropout(weights) values
///
/// Heads stand side by side in the context. A query that sees no key gets zeros. By blocks of 64 queries, each with the
/// band of keys that any of them may see: the scores of a long sequence never exist whole, and within a window of
/// radius r time is O(n (r + 64) width) and memory O(n). With `save`, what backward needs is kept as long as it is no
/// larger than a row of 128 keys a query.
ScaledDotProductResult scaled_dot_product(const ScaledDotProductInputs& inputs, bool weights, bool save);

/// Where gradients are accumulated, in the same columns; absent where nobody wants one.
struct ScaledDotProductGradients {
  Tensor query, keys, values;
};

/// Adds the gradients for the cotangents of the context and of the weights, either of them absent.
void scaled_dot_product_backward(const ScaledDotProductInputs& inputs, const Tensor& saved, const Tensor& dcontext,
                                 const Tensor& dweights, const ScaledDotProductGradients& gradients);

}  // namespace tapestry::core
