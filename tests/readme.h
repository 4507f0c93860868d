#pragma once
// What stands in a README, for tests to hold it to the code.

#include <sstream>
#include <string>
#include <vector>

#include "core/files.h"

namespace tapestry {

/// A fenced block. Its opening line is ``` and a language, then perhaps what the block is: a file that it quotes, or
/// the name of an output that a test produces.
struct FencedBlock {
  std::string language, what, text;
};

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

inline std::vector<FencedBlock> fenced_blocks(const std::string& markdown) {
  std::vector<FencedBlock> blocks;
  bool inside = false;
  for (const std::string& line : lines_of(markdown)) {
    if (line.starts_with("```")) {
      inside = !inside;
      if (!inside) continue;
      FencedBlock& block = blocks.emplace_back();
      std::istringstream(line.substr(3)) >> block.language >> block.what;
    } else if (inside) {
      blocks.back().text += line + "\n";
    }
  }
  return blocks;
}

/// The text of the block of `path` (from the root of the project) that is `what`. Errors: not exactly one is.
inline std::string readme_block(const std::string& path, const std::string& what) {
  std::string text;
  int found = 0;
  for (const FencedBlock& block : fenced_blocks(read_file(SOURCE_DIR "/" + path)))
    if (block.what == what) {
      text = block.text;
      ++found;
    }
  require(found == 1, "{}: must have one block {}; it has {}", path, what, found);
  return text;
}

}  // namespace tapestry
