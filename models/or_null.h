#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace tapestry {

/// A value that may be missing, as it stands in JSON.
template <class T>
nlohmann::json or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

}  // namespace tapestry
