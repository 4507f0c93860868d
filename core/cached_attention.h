#pragma once
// Attention of one new position to those before it, whose keys and values are kept.

#include <span>
#include <vector>

#include "core/scaled_dot_product.h"

namespace tapestry::core {

/// Keys and values of the positions so far, position-major, in a buffer that doubles when it is full. Position j of a
/// row is found in the row of the buffer that its ancestor had at that step: where hypotheses are chosen and copied,
/// only that table changes, never the cache.
class KeyValueCache {
 public:
  /// Makes room for one more position of `rows` rows and returns its place: [rows, 2 * width], keys before values.
  Tensor append(Index rows, Index width, DType dtype);
  Index length() const { return length_; }
  /// What row r put there at position j, 2 * width numbers.
  template <class T>
  const T* at(Index position, Index row) const {
    return buffer_.data<T>() + (position * buffer_.size(1) + row) * buffer_.size(2);
  }

 private:
  Tensor buffer_;  // [capacity, rows, 2 * width]
  Index length_ = 0;
};

/// lineage[j][r]: the row that the ancestor of row r had at position j.
using Lineage = std::vector<std::vector<std::int32_t>>;

struct CachedAttentionResult {
  Tensor context;  // [R,heads * width]
  Tensor weights;  // [R,H,L], if asked for
};

/// Queries are columns [column, column + heads * width) of x [R,*]. The same numbers as scaled_dot_product with a
/// causal mask gives for the last position, up to rounding; cost O(length) a row.
CachedAttentionResult cached_attention(const Tensor& x, Index column, Index heads, Index width,
                                       const KeyValueCache& cache, const Lineage& lineage, bool weights);

}  // namespace tapestry::core
