#include <algorithm>

#include "core/scaled_dot_product.h"

namespace tapestry::core {
namespace {

void check_columns(const char* op, const char* what, const HeadColumns& heads, Index batch, Index width) {
  require(heads.x && heads.x.rank() == 3 && heads.x.size(0) == batch, "{}: {} must be [{},L,*]; given {}", op, what,
          batch, heads.x);
  require(heads.column >= 0 && heads.column + width <= heads.x.size(2), "{}: {} must have columns {} to {}; given {}",
          op, what, heads.column, heads.column + width, heads.x);
}

}  // namespace

void ScaledDotProductInputs::check(const char* op) const {
  require(heads >= 1 && width >= 1 && value_width >= 1,
          "{}: heads and their widths must be at least 1; given {} heads of {} and {}", op, heads, width, value_width);
  require(query.x && query.x.rank() == 3, "{}: queries must be [B,Q,*]; given {}", op, query.x);
  const Index batch = query.x.size(0);
  check_columns(op, "queries", query, batch, heads * width);
  check_columns(op, "keys", keys, batch, heads * width);
  check_columns(op, "values", values, batch, heads * value_width);
  require(keys.x.size(1) == values.x.size(1), "{}: there must be a value for each key; given {} and {}", op, values.x,
          keys.x);
  require_same_dtype(op, {query.x, keys.x, values.x});
  mask.require_fits(op, batch, query.x.size(1));
}

Index ScaledDotProductInputs::first_key(Index q) const {
  constexpr Index step = 16;  // whole registers of numbers, and whole bytes of bits
  return mask.keys_of_any_length(q / block_queries * block_queries, keys.x.size(1)).begin / step * step;
}

std::vector<Index> ScaledDotProductInputs::first_keys() const {
  std::vector<Index> first;
  for (Index q = 0; q < query.x.size(1); ++q) first.push_back(first_key(q));
  return first;
}

Index ScaledDotProductInputs::band() const {
  Index widest = 0;
  for (Index q = 0; q < query.x.size(1); ++q)
    widest = std::max(widest, mask.keys_of_any_length(q, keys.x.size(1)).end - first_key(q));
  return widest;
}

}  // namespace tapestry::core
