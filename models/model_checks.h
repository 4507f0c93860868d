#pragma once
// The gradcheck of every model.

#include "autograd/gradcheck.h"

namespace tapestry {

/// For each model, fused and with the composed twins: at least eight elements of every parameter and a random direction
/// through all of them, with dropout on, sentences of different lengths and words used twice, at tolerance 1e-5.
std::vector<NamedCheck> model_checks();

}  // namespace tapestry
