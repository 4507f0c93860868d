#pragma once

#include <string>
#include <vector>

namespace tapestry {

/// The lines of a UTF-8 file without their ends (LF or CRLF) and without a byte order mark. The last line may lack its
/// end. Throws Error for a file that is missing, unreadable, a directory, empty, or (with file:line) not UTF-8.
std::vector<std::string> read_lines(const std::string& path);

}  // namespace tapestry
