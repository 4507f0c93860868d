#pragma once
// Picking elements by ids, and adding them back where they came from.

#include "core/ids.h"
#include "core/tensor.h"

namespace tapestry::core {

/// Row ids[i] of an axis for each id: [outer..., n, inner...] to [outer..., ids..., inner...].
/// Errors name `op`, the id, its place and the size of the axis it must lie in.
Tensor take_rows(const char* op, const Tensor& x, int axis, const Ids& ids);
/// target at those rows += rows: the gradient of `take_rows`. A row named twice gets both.
void add_rows(const Tensor& target, int axis, const Ids& ids, const Tensor& rows);

/// y at p = x at p with its place along the axis replaced by ids at p. Ids have x's rank, and fit in it but for the
/// axis. Errors name `op`: another rank, a larger size, or an id out of range.
Tensor gather(const char* op, const Tensor& x, int axis, const Ids& ids);
/// target at those places += y: the gradient of `gather`.
void scatter_add(const char* op, const Tensor& target, int axis, const Ids& ids, const Tensor& y);

}  // namespace tapestry::core
