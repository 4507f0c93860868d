#pragma once
// Differentiable picking by ids. Errors name the op, the id, its place and the size of the axis it must lie in.

#include "autograd/var.h"
#include "core/ids.h"

namespace tapestry {

/// Rows of a table [V,E] for ids of any shape: [ids..., E]. The gradient goes straight into the rows that were read.
Var embedding(const Var& table, const Ids& ids);
/// Elements ids [n] of an axis, in that order.
Var index_select(const Var& x, int axis, const Ids& ids);
/// y at p = x at p with its place along the axis replaced by ids at p (PyTorch's gather). Ids have x's rank.
Var gather(const Var& x, int axis, const Ids& ids);
/// x, with src at p added where `gather` with these ids would read for p.
Var scatter_add(const Var& x, int axis, const Ids& ids, const Var& src);

}  // namespace tapestry
