#pragma once
// Tables of text.

#include <string>
#include <string_view>
#include <vector>

namespace tapestry {

/// Columns of a terminal that the text takes: two for a character of a script without spaces, one for all others.
std::size_t display_width(std::string_view text);

/// `text` with spaces to `width` columns, on its right or, with `right` alignment, on its left.
std::string padded(std::string_view text, std::size_t width, bool right = false);

/// Rows in aligned columns, two spaces between, each line ended. `alignment` has a letter for each column, l or r.
std::string format_table(const std::vector<std::vector<std::string>>& rows, std::string_view alignment);

/// 1234567 as "1,234,567".
std::string grouped(std::int64_t number);

/// "1 layer", "2,000 layers".
std::string counted(std::int64_t number, std::string_view noun);

}  // namespace tapestry
