#pragma once
// Files with one JSON object a line.

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace tapestry {

/// Calls each(object) for every line that is not blank. Errors: the file cannot be read; `file:line:` a line that is no
/// JSON object, or what `each` throws about it.
void for_each_json_line(const std::string& path, const std::function<void(const nlohmann::json&)>& each);

}  // namespace tapestry
