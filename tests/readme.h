#pragma once
// What stands in a README, for tests to hold it to the code.

#include <sstream>
#include <string>
#include <vector>

#include "core/error.h"
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

inline std::string without_comments(std::string text) {
  for (std::size_t begin; (begin = text.find("<!--")) != std::string::npos;)
    text.erase(begin, text.find("-->", begin) + 3 - begin);
  return text;
}

struct Markdown {
  std::string prose;  // without blocks and comments
  std::vector<FencedBlock> blocks;
};

inline Markdown read_markdown(const std::string& text) {
  Markdown markdown;
  bool inside = false;
  for (const std::string& line : lines_of(without_comments(text))) {
    const std::size_t begin = line.find_first_not_of(' ');  // in a list, blocks are indented
    if (begin != std::string::npos && line.compare(begin, 3, "```") == 0) {
      inside = !inside;
      if (!inside) continue;
      FencedBlock& block = markdown.blocks.emplace_back();
      std::istringstream(line.substr(begin + 3)) >> block.language >> block.what;
    } else {
      (inside ? markdown.blocks.back().text : markdown.prose) += line + "\n";
    }
  }
  return markdown;
}

/// The text of the block of `path` (from the root of the project) that is `what`. Errors: not exactly one is.
inline std::string readme_block(const std::string& path, const std::string& what) {
  std::string text;
  int found = 0;
  for (const FencedBlock& block : read_markdown(read_file(SOURCE_DIR "/" + path)).blocks)
    if (block.what == what) {
      text = block.text;
      ++found;
    }
  require(found == 1, "{}: must have one block {}; it has {}", path, what, found);
  return text;
}

}  // namespace tapestry
