#include "core/error.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace tapestry {

void fail(const std::string& message) {
  throw Error(message);
}

void require_one_of(const std::string& option, const std::string& value, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), value) == known.end())
    throw UsageError(fmt::format("{}: must be one of {}; given {}", option, fmt::join(known, ", "), value));
}

}  // namespace tapestry
