#include "models/text_file.h"

#include <string_view>

#include "core/error.h"
#include "core/files.h"
#include "models/utf8.h"

namespace tapestry {

std::vector<std::string> read_lines(const std::string& path) {
  const std::string bytes = read_file(path);
  std::string_view rest = bytes;
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
  require(!rest.empty(), "{}: file must hold text; it is empty", path);

  std::vector<std::string> lines;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t bad = first_malformed(line);
    require(bad == std::string_view::npos, "{}:{}: text must be UTF-8; byte {} of the line is 0x{:02x}", path,
            lines.size() + 1, bad + 1, bad < line.size() ? static_cast<unsigned char>(line[bad]) : 0);
    lines.emplace_back(line);
  }
  return lines;
}

}  // namespace tapestry
