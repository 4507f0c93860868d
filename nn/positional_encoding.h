#pragma once
// Where in the sentence is a word? (Vaswani et al. 2017, section 3.5.)

#include <mutex>
#include <optional>

#include "nn/store.h"

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

struct PositionOptions {
  std::string kind = "sinusoidal";  // one of position_kinds()
  Index most = 512;                 // rows of the learned table
};
const std::vector<std::string>& position_kinds();

/// Tells embeddings where they stand, by what is added to them:
///
///   sinusoidal  the sines and cosines above
///   learned     a row of a table, weight [most,D], from N(0, 0.02^2) as BERT's (Devlin et al. 2019); there is none of
///               a position that it has no row for
///   none        nothing: only a causal mask then tells the order
///   integers    the position p itself, to every feature. What not to do: p grows without bound, the embeddings do not
class Positions {
 public:
  /// Errors: an unknown kind; sines and cosines of an odd width; a table without a row.
  Positions(const Scope& scope, Index width, const PositionOptions& options = {});
  /// x [B,L,D] at the positions from `first` on, or one position of each row [R,D]. Errors: beyond a learned table.
  Var operator()(const Var& x, Index first) const;
  /// How many positions can be told.
  Index most() const;

 private:
  bool integers_;
  std::optional<PositionalEncoding> sinusoids_;
  Var table_;
};

}  // namespace tapestry
