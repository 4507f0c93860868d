#include "tools/json_lines.h"

#include <algorithm>

#include "core/error.h"
#include "core/files.h"

namespace tapestry {

void for_each_json_line(const std::string& path, const std::function<void(const nlohmann::json&)>& each) {
  using Json = nlohmann::json;
  const std::string text = read_file(path);
  std::size_t begin = 0;
  for (int number = 1; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      const Json json = Json::parse(line);
      require(json.is_object(), "must be a JSON object; it is of type {}", json.type_name());
      each(json);
    } catch (const Json::parse_error& error) {
      fail(fmt::format("{}:{}: must be JSON; it is not at byte {}", path, number, error.byte));
    } catch (const std::exception& error) {
      fail(fmt::format("{}:{}: {}", path, number, error.what()));
    }
  }
}

}  // namespace tapestry
