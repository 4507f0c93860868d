#pragma once
// What `tapestry conformance` prints.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/check_case.h"

namespace tapestry {

struct ConformanceTotals {
  Index passed = 0, failed = 0, not_implemented = 0;
};
ConformanceTotals totals(const std::vector<ConformanceRow>& rows);

/// The table by category, the ops that are not implemented, who computed each op, and last the failures.
std::string conformance_text(const std::vector<ConformanceRow>& rows);

/// `rows` with `name`, `category`, `op`, `status`, `error`, `called`; `passed`, `failed`, `not_implemented`.
nlohmann::json conformance_json(const std::vector<ConformanceRow>& rows);

}  // namespace tapestry
