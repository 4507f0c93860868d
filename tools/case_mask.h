#pragma once
// The masks of a case, which every source has in a form of its own.

#include <limits>
#include <optional>
#include <vector>

#include "core/mask.h"
#include "tools/oracle_case.h"

namespace tapestry {

/// Which keys each query may attend to, as a matrix: what the sources have, and what our Mask is not.
class CaseMask {
 public:
  /// Everything is allowed. `fill` is what the source makes of a hidden score.
  CaseMask(Index batch, Index queries, Index keys, double fill)
      : shape_{batch, queries, keys}, hidden_(static_cast<std::size_t>(shape_.numel())), fill_(fill) {}

  /// Hides what `mask` hides, [B,Q,K] or broadcast to it: where it is not 0, or with `attended` where it is.
  void hide(const Ids& mask, bool attended);
  /// Hides the keys from each sentence's (lengths [B]) or query's ([B,Q]) length on.
  void hide_beyond(const Ids& lengths);
  /// Adds numbers [Q,K] to the scores.
  void add(const Var& scores) { added_ = scores; }

  /// The same as a mask of the library, if there is one.
  std::optional<Mask> library() const;
  /// 1 for each query that may see no key, [B,Q,1]; absent if every query may see one.
  Ids empty_rows() const;
  /// Scores [B,H,Q,K] with this mask put on them as the source does.
  Var applied(const Var& scores) const;

 private:
  bool allowed_alike(const Mask& mask) const;

  Shape shape_;  // [B,Q,K]
  std::vector<std::int32_t> hidden_;
  double fill_;
  Var added_;
};

/// `valid_lens` of the book: scores behind them are set to -1e6.
CaseMask book_mask(const OracleCase& c, Index batch, Index queries, Index keys);
/// A mask of the Annotated Transformer, true where a key is attended to, else the score is set to -1e9.
CaseMask annotated_mask(const OracleCase& c, const std::string& name, Index batch, Index queries, Index keys);
/// PyTorch's two masks, of queries and keys and of padding, true where a key is hidden; numbers are added. Either may
/// be missing.
CaseMask torch_mask(OracleCase& c, const std::string& of_scores, const std::string& of_padding, Index batch,
                    Index queries, Index keys);

}  // namespace tapestry
