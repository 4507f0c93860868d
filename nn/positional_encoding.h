#pragma once
// Where in the sentence is a word? (Vaswani et al. 2017, section 3.5.)

#include <mutex>

#include "core/tensor.h"

namespace tapestry {

/// Sines and cosines of falling frequencies, which are added to the embeddings:
///
///   P[position, 2i] = sin(position / 10000^(2i / D))      P[position, 2i + 1] = cos(the same)
///
/// For a fixed distance P[position + distance] is a rotation of P[position], the same for every position.
class PositionalEncoding {
 public:
  /// Errors: an odd width, for sines and cosines come in pairs.
  explicit PositionalEncoding(Index width, DType dtype);
  /// Rows [first, first + count) of the table: [count,D]. The table grows on demand; shards may ask side by side.
  Tensor operator()(Index first, Index count) const;

 private:
  Index width_;
  DType dtype_;
  mutable std::mutex growing_;
  mutable Tensor table_;
};

}  // namespace tapestry
