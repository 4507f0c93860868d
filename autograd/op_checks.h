#pragma once
// The gradcheck line of every op: `tapestry gradcheck` and the tests run them all.

#include <vector>

#include "autograd/gradcheck.h"

namespace tapestry {

/// One or more cases for each op that the headers of this folder declare; a case is named `op` or `op/variant`. All
/// sizes differ, so that a transposition cannot hide; values keep away from singularities.
std::vector<GradcheckCase> op_checks();

}  // namespace tapestry
