#include "optim/schedule.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace tapestry {

const std::vector<std::string>& schedule_names() {
  static const std::vector<std::string> names{"constant", "linear", "inverse-sqrt", "noam"};
  return names;
}

double Schedule::rate(Index update) const {
  const auto t = static_cast<double>(std::max<Index>(update, 1)), warm = static_cast<double>(warmup);
  if (name == "constant") return lr;
  if (name == "linear") return lr * (1 - (t - 1) / static_cast<double>(updates));
  if (name == "inverse-sqrt") return t < warm ? initial + (lr - initial) * t / warm : lr * std::sqrt(warm / t);
  if (name == "noam")
    return factor / std::sqrt(static_cast<double>(width)) * std::min(1 / std::sqrt(t), t * std::pow(warm, -1.5));
  throw UsageError(fmt::format("schedule: must be one of {}; given {}", fmt::join(schedule_names(), ", "), name));
}

Schedule::Peak Schedule::peak() const {
  const Index update = name == "inverse-sqrt" || name == "noam" ? std::clamp<Index>(updates, 1, warmup) : 1;
  return {rate(update), update};
}

}  // namespace tapestry
