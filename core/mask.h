#pragma once
// Which keys a query may attend to.

#include <algorithm>
#include <limits>

#include "core/ids.h"

namespace tapestry {

/// Every mask of the course is an interval of keys for each query: the first `length` keys (padding), the keys up to
/// the query itself (causal), those within a radius of it (window). Intervals compose by intersection, so a mask is
/// never stored as a matrix. The default mask allows everything.
class Mask {
 public:
  struct Interval {
    Index begin, end;  // keys begin <= k < end; empty if end <= begin
  };

  Mask() = default;
  /// Keys k < lengths[b] (ids [B], one length a sentence) or k < lengths[b, q] (ids [B,Q], one a query).
  /// Errors: another rank, or a negative length.
  static Mask lengths(const Ids& lengths) {
    const int rank = lengths.shape().rank();
    require(rank == 1 || rank == 2, "mask: lengths must be [B] or [B,Q]; given {}", lengths.shape());
    for (auto length : lengths.values()) require(length >= 0, "mask: lengths must not be negative; given {}", length);
    Mask mask;
    mask.lengths_ = lengths;
    return mask;
  }
  /// Keys k <= q: a position sees itself and what came before.
  static Mask causal() {
    Mask mask;
    mask.ahead_ = 0;
    return mask;
  }
  /// Keys |k - q| <= radius. Errors: a negative radius.
  static Mask window(Index radius) {
    require(radius >= 0, "mask: the radius of a window must not be negative; given {}", radius);
    Mask mask;
    mask.ahead_ = mask.behind_ = std::min(radius, unlimited);
    return mask;
  }
  /// What both allow. Errors: two sets of lengths.
  friend Mask operator&(const Mask& a, const Mask& b) {
    require(!(a.lengths_ && b.lengths_), "mask: at most one of two composed masks may have lengths");
    Mask mask = a.lengths_ ? a : b;
    mask.ahead_ = std::min(a.ahead_, b.ahead_);
    mask.behind_ = std::min(a.behind_, b.behind_);
    return mask;
  }

  /// The keys that query q of sentence b may see, of `keys` there are.
  Interval keys(Index b, Index q, Index keys) const {
    auto [begin, end] = keys_of_any_length(q, keys);
    if (lengths_) {
      const Index i = lengths_.shape().rank() == 1 ? b : b * lengths_.size(1) + q;
      end = std::min<Index>(end, lengths_[i]);
    }
    return {begin, std::max(begin, end)};
  }
  /// The same without regard to lengths.
  Interval keys_of_any_length(Index q, Index keys) const {
    const Index begin = std::clamp<Index>(q - behind_, 0, keys);
    return {begin, std::clamp<Index>(q + ahead_ + 1, begin, keys)};
  }
  /// Errors unless the lengths, if any, are for `batch` sentences of `queries` queries.
  void require_fits(const char* op, Index batch, Index queries) const {
    if (!lengths_) return;
    const Shape wanted = lengths_.shape().rank() == 1 ? Shape{batch} : Shape{batch, queries};
    require(lengths_.shape() == wanted, "{}: the mask's lengths must be {}; given {}", op, wanted, lengths_.shape());
  }

 private:
  // Far beyond any length, and far from overflow when a position is added.
  static constexpr Index unlimited = std::numeric_limits<Index>::max() / 4;
  Ids lengths_;
  Index ahead_ = unlimited, behind_ = unlimited;
};

}  // namespace tapestry
