#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace tapestry {

/// A file of ../shared, the data and oracle cases that lie beside a checkout and are never part of it; the environment
/// variable TAPESTRY_SHARED names another place. Nothing where it does not exist: the test then says so and returns.
inline std::optional<std::string> shared_path(const std::string& name) {
  const char* place = std::getenv("TAPESTRY_SHARED");
  const std::filesystem::path path = std::filesystem::path(place ? place : SOURCE_DIR "/../shared") / name;
  if (!std::filesystem::exists(path)) return std::nullopt;
  return path.string();
}

}  // namespace tapestry
