#include "tools/case_mask.h"

#include <algorithm>

#include "autograd/elementwise.h"

namespace tapestry {
namespace {

// Any mask as [B|1, Q|1, K]: one of fewer axes is for all sentences.
Ids with_three_axes(const Ids& mask) {
  const Shape& shape = mask.shape();
  if (shape.rank() == 3) return mask;
  require(shape.rank() == 2, "case: a mask must be a matrix, or one a sentence; given {}", shape);
  return Ids({mask.values().begin(), mask.values().end()}, {1, shape[0], shape[1]});
}

}  // namespace

void CaseMask::hide(const Ids& given, bool attended) {
  const Ids mask = with_three_axes(given);
  const Shape& from = mask.shape();
  for (int axis = 0; axis < 3; ++axis)
    require(from[axis] == 1 || from[axis] == shape_[axis], "case: a mask must broadcast to {}; given {}", shape_, from);
  std::size_t i = 0;
  for (Index b = 0; b < shape_[0]; ++b)
    for (Index q = 0; q < shape_[1]; ++q)
      for (Index k = 0; k < shape_[2]; ++k, ++i) {
        const Index row = (from[0] == 1 ? 0 : b) * from[1] + (from[1] == 1 ? 0 : q);
        const bool set = mask[row * from[2] + (from[2] == 1 ? 0 : k)] != 0;
        if (set != attended) hidden_[i] = 1;
      }
}

void CaseMask::hide_beyond(const Ids& lengths) {
  const bool one_a_query = lengths.shape().rank() == 2;
  Mask::lengths(lengths).require_fits("case", shape_[0], shape_[1]);
  for (Index row = 0; row < shape_[0] * shape_[1]; ++row)
    for (Index k = lengths[one_a_query ? row : row / shape_[1]]; k < shape_[2]; ++k)
      hidden_[static_cast<std::size_t>(row * shape_[2] + k)] = 1;
}

bool CaseMask::allowed_alike(const Mask& mask) const {
  std::size_t i = 0;
  for (Index b = 0; b < shape_[0]; ++b)
    for (Index q = 0; q < shape_[1]; ++q) {
      const Mask::Interval keys = mask.keys(b, q, shape_[2]);
      for (Index k = 0; k < shape_[2]; ++k, ++i)
        if ((keys.begin <= k && k < keys.end) != (hidden_[i] == 0)) return false;
    }
  return true;
}

std::optional<Mask> CaseMask::library() const {
  if (added_) return std::nullopt;
  std::vector<std::int32_t> of_query, of_sentence(static_cast<std::size_t>(shape_[0]));
  for (Index row = 0; row < shape_[0] * shape_[1]; ++row) {
    Index end = shape_[2];
    while (end > 0 && hidden_[static_cast<std::size_t>(row * shape_[2] + end - 1)] != 0) --end;
    of_query.push_back(static_cast<std::int32_t>(end));
    auto& longest = of_sentence[static_cast<std::size_t>(row / shape_[1])];
    longest = std::max(longest, of_query.back());
  }
  const Mask padding = Mask::lengths(Ids(std::move(of_sentence)));
  for (const Mask& mask : {Mask(), Mask::causal(), padding, padding & Mask::causal(),
                           Mask::lengths(Ids(std::move(of_query), {shape_[0], shape_[1]}))})
    if (allowed_alike(mask)) return mask;
  return std::nullopt;
}

Ids CaseMask::empty_rows() const {
  std::vector<std::int32_t> empty;
  for (auto row = hidden_.begin(); row != hidden_.end(); row += shape_[2])
    empty.push_back(std::count(row, row + shape_[2], 0) == 0 ? 1 : 0);
  if (std::ranges::count(empty, 1) == 0) return Ids();
  return Ids(std::move(empty), {shape_[0], shape_[1], 1});
}

Var CaseMask::applied(const Var& scores) const {
  const Ids hidden(hidden_, {shape_[0], 1, shape_[1], shape_[2]});
  return masked_fill(added_ ? scores + added_ : scores, hidden, fill_);
}

CaseMask book_mask(const OracleCase& c, Index batch, Index queries, Index keys) {
  CaseMask mask(batch, queries, keys, c.hyper("mask_value", -1e6));
  if (c.has("in.valid_lens")) mask.hide_beyond(c.ids("valid_lens"));
  return mask;
}

CaseMask annotated_mask(const OracleCase& c, const std::string& name, Index batch, Index queries, Index keys) {
  CaseMask mask(batch, queries, keys, c.hyper("mask_value", -1e9));
  if (c.has("in." + name)) mask.hide(c.ids(name), true);
  return mask;
}

CaseMask torch_mask(OracleCase& c, const std::string& of_scores, const std::string& of_padding, Index batch,
                    Index queries, Index keys) {
  CaseMask mask(batch, queries, keys, -std::numeric_limits<double>::infinity());
  for (const std::string& name : {of_scores, "const_" + of_scores}) {
    if (!c.has("in." + name)) continue;
    if (c.file().tensors.contains("in." + name))
      mask.add(c.in(name));
    else
      mask.hide(c.ids(name, {queries, keys}), false);
  }
  if (c.has("in." + of_padding)) {
    const Ids padding = c.ids(of_padding, {batch, keys});
    mask.hide(Ids({padding.values().begin(), padding.values().end()}, {batch, 1, keys}), false);
  }
  return mask;
}

}  // namespace tapestry
