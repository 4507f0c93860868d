#include "models/alignment.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "core/error.h"
#include "models/text_file.h"
#include "models/utf8.h"

namespace tapestry {
namespace {

// Reads "12-3"; false if it is anything else.
bool parse_link(const std::string& text, std::pair<int, int>& link) {
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, link.first);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return false;
  const auto second = std::from_chars(first.ptr + 1, end, link.second);
  return second.ec == std::errc() && second.ptr == end && link.first >= 0 && link.second >= 0;
}

}  // namespace

Alignment diagonal_alignment(std::size_t source_length, std::size_t target_length) {
  Alignment links;
  if (source_length == 0) return links;
  // floor((j + 1/2) S / T) in whole numbers, so that no rounding can move a link.
  for (std::size_t j = 0; j < target_length; ++j)
    links.emplace_back(static_cast<int>((2 * j + 1) * source_length / (2 * target_length)), static_cast<int>(j));
  return links;
}

double alignment_error_rate(const std::vector<Alignment>& proposed, const std::vector<Alignment>& gold) {
  require(proposed.size() == gold.size(),
          "alignment_error_rate: both must hold the same number of sentences; {} proposed, {} gold", proposed.size(),
          gold.size());
  std::size_t links = 0, common = 0;
  for (std::size_t i = 0; i < gold.size(); ++i) {
    const std::set<std::pair<int, int>> a(proposed[i].begin(), proposed[i].end());
    const std::set<std::pair<int, int>> g(gold[i].begin(), gold[i].end());
    links += a.size() + g.size();
    for (const auto& link : a) common += g.count(link);
  }
  return links == 0 ? 0.0 : 1.0 - 2.0 * static_cast<double>(common) / static_cast<double>(links);
}

std::vector<Alignment> read_alignments(const std::string& path) {
  std::vector<Alignment> alignments;
  for (const std::string& line : read_lines(path)) {
    Alignment& links = alignments.emplace_back();
    for (const std::string& word : split_words(line)) {
      std::pair<int, int> link;
      require(parse_link(word, link), "{}:{}: links must be of the form 0-0, source and target place; {}", path,
              alignments.size(), word);
      links.push_back(link);
    }
    std::sort(links.begin(), links.end());
    links.erase(std::unique(links.begin(), links.end()), links.end());
  }
  return alignments;
}

}  // namespace tapestry
