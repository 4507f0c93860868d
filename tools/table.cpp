#include "tools/table.h"

#include <algorithm>

#include "core/error.h"
#include "models/utf8.h"

namespace tapestry {

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    width += is_cjk(c.value) ? 2 : 1;
    at += c.length;
  }
  return width;
}

std::string padded(std::string_view text, std::size_t width, bool right) {
  std::string result(text);
  result.insert(right ? 0 : result.size(), width - std::min(width, display_width(text)), ' ');
  return result;
}

std::string format_table(const std::vector<std::vector<std::string>>& rows, std::string_view alignment) {
  std::vector<std::size_t> widths(alignment.size(), 0);
  for (const auto& row : rows) {
    require(row.size() == alignment.size(), "table: a row must have {} cells; given {}", alignment.size(), row.size());
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      line += padded(row[i], widths[i], alignment[i] == 'r');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<std::int64_t>(digits.size()) - 3; at > (number < 0 ? 1 : 0); at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

std::string counted(std::int64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(number), noun, number == 1 ? "" : "s");
}

}  // namespace tapestry
