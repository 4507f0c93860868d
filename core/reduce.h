#pragma once
// Sums, maxima and minima over any axes. Results keep the reduced axes with size 1; sums are gathered in f64.

#include <vector>

#include "core/tensor.h"

namespace tapestry::core {

/// The axes to reduce over, counted from the end where negative. None means all.
using Axes = std::vector<int>;

/// `shape` with the axes reduced to size 1, or taken away. Errors name `op`: no such axis, or one given twice.
Shape reduced(const char* op, const Shape& shape, const Axes& axes, bool keepdims);
/// How many elements of `shape` go into one of the result.
Index reduced_count(const Shape& shape, const Axes& axes);

Tensor sum(const Tensor& x, const Axes& axes);
/// NaN if an element is NaN. Errors name `op`: nothing to take the maximum of.
Tensor max(const char* op, const Tensor& x, const Axes& axes);
Tensor min(const char* op, const Tensor& x, const Axes& axes);

/// target [columns] += the sum of each column of x [..., columns].
void add_column_sums(const Tensor& target, const Tensor& x);

}  // namespace tapestry::core
