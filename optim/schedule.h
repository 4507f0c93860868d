#pragma once
// How the learning rate moves over the updates.

#include <string>

#include "core/dtype.h"
#include "core/error.h"

namespace tapestry {

/// What the rate is multiplied by at update 1 ... `updates`: "constant" 1; "linear" falls from 1 at the first update
/// towards 0 after the last, 1 - (update - 1) / updates. Errors (UsageError): another name.
inline double schedule_factor(const std::string& schedule, Index update, Index updates) {
  if (schedule == "constant") return 1;
  if (schedule == "linear") return 1 - static_cast<double>(update - 1) / static_cast<double>(updates);
  throw UsageError(fmt::format("schedule: must be constant or linear; given {}", schedule));
}

}  // namespace tapestry
