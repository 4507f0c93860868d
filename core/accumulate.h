#pragma once
// Adding gradients up, and undoing a broadcast.

#include "core/tensor.h"

namespace tapestry::core {

/// target += g. Errors: another shape or dtype.
void accumulate(const Tensor& target, const Tensor& g);

/// g summed over the axes along which a tensor of `shape` was broadcast to g's: the gradient of a broadcast.
/// Errors: `shape` does not broadcast to g's.
Tensor sum_to(Tensor g, const Shape& shape);

}  // namespace tapestry::core
