#pragma once
// What the cases that train have in common.

#include <vector>

#include "optim/schedule.h"
#include "tools/oracle_case.h"

namespace tapestry {

/// The paper's schedule, from its hyperparameters in a case.
Schedule noam(const nlohmann::json& hyper);

/// `losses`, `grad_norms` and `lrs` of each update, and the parameters as they are now, by the file's names.
Outputs trained(const OracleCase& c, const std::vector<double>& losses, const std::vector<double>& norms,
                const std::vector<double>& rates);

}  // namespace tapestry
