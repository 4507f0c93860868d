#pragma once
// The gradcheck of every layer.

#include "autograd/gradcheck.h"

namespace tapestry {

/// One check or more for each layer of nn/, over every element of inputs and parameters, at tolerance 1e-6.
std::vector<NamedCheck> layer_checks();

}  // namespace tapestry
