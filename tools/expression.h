#pragma once
// The expressions in which cases say what they compute: "a.permute(0,2,1,3) @ b.permute(0,2,3,1)", "x[:,1:,::2]".

#include <functional>
#include <optional>
#include <string>

#include "tools/oracle_case.h"

namespace tapestry {

/// The hyperparameter `expr`, or the notes where they read "y = ...".
std::optional<std::string> expression_of(const OracleCase& c);

/// The value of an expression over the inputs of the case, in PyTorch's notation: numbers, + - * / and @, slices,
/// cat([a, b], 0), stack, and the methods transpose, permute, reshape, view, flatten, expand, unsqueeze, select, t and
/// contiguous. Errors: NotImplemented where it says anything else.
Var evaluate(const std::string& text, OracleCase& c);

}  // namespace tapestry
