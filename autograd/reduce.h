#pragma once
// Differentiable reductions over any axes; negative axes count from the end, none at all means all. With `keepdims` the
// reduced axes stay with size 1. Errors: `sum: ...` an axis that is not there or is given twice.

#include "autograd/var.h"
#include "core/reduce.h"

namespace tapestry {

using core::Axes;

Var sum(const Var& x, const Axes& axes = {}, bool keepdims = false);
Var mean(const Var& x, const Axes& axes = {}, bool keepdims = false);
/// The largest, the smallest element. The gradient is divided evenly among ties. Errors: nothing to choose from.
Var max(const Var& x, const Axes& axes = {}, bool keepdims = false);
Var min(const Var& x, const Axes& axes = {}, bool keepdims = false);
/// The mean square distance from the mean: divided by n - 1 (unbiased) or n. Two passes, so that a large mean costs no
/// digits.
Var variance(const Var& x, const Axes& axes = {}, bool unbiased = true, bool keepdims = false);
/// log sum e^x, without overflow. Of nothing but -infinity it is -infinity, with gradient 0.
Var logsumexp(const Var& x, const Axes& axes = {}, bool keepdims = false);

}  // namespace tapestry
