#pragma once
// What gradcheck is run on, for the ops that fuse several: each with lengths, absent inputs and odd sizes.

#include <vector>

#include "autograd/gradcheck.h"

namespace tapestry {

std::vector<GradcheckCase> fused_checks();

}  // namespace tapestry
