#pragma once
// Gradient clipping: by the norm of all gradients together, or value by value.

#include <span>

#include "core/tensor.h"

namespace tapestry {

/// Sum of |g|^p of one tensor (p finite), or its largest |g| (p infinite), in f64.
double power_sum(const Tensor& gradient, double p = 2);

/// The p-norm of all gradients as one vector. p = infinity gives the largest magnitude. Errors: p <= 0.
double total_norm(std::span<const Tensor> gradients, double p = 2);

/// What gradients of this norm are multiplied by: max_norm / (norm + epsilon) if that is below 1, else 1.
/// Pascanu et al. 2013, algorithm 1 (epsilon 0, as in the book); torch.nn.utils.clip_grad_norm_ has epsilon 1e-6.
double clip_factor(double norm, double max_norm, double epsilon = 0);

/// g *= factor.
void scale(std::span<const Tensor> gradients, double factor);

/// g = min(max(g, -limit), limit).
void clip_by_value(std::span<const Tensor> gradients, double limit);

/// Adds the other shards' gradients to the first's, in shard order, divides by `divisor`, zeroes the others, and
/// returns the sum of squares of the result: all that is done to a piece between backward and the optimiser, in one
/// pass over it.
double gather(std::span<const Tensor> shards, double divisor);

}  // namespace tapestry
