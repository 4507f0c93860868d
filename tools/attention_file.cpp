#include "tools/attention_file.h"

#include <fmt/format.h>

#include <iterator>

#include "core/files.h"
#include "tools/options.h"

namespace tapestry {

AttentionFile::AttentionFile(const std::string& path) : path_(path), picture_(path.ends_with(".svg")) {
  if (!picture_ && !path.ends_with(".tsv"))
    throw UsageError(fmt::format("--attention: must end in .svg (a picture) or .tsv (numbers); given {}", path));
  require_writable_file("--attention", path);
}

void AttentionFile::add(const TranslatedSentence& sentence) {
  ++sentences_;
  if (!sentence.attention) return;
  HeatMap map{sentence.target, sentence.source, sentence.attention};
  map.columns.push_back("<eos>");
  if (sentence.ended) map.rows.push_back("<eos>");
  if (picture_)
    sheet_.add(map);
  else
    add_lines(map);
}

void AttentionFile::add_lines(const HeatMap& map) {
  for (std::size_t t = 0; t < map.rows.size(); ++t)
    for (std::size_t s = 0; s < map.columns.size(); ++s)
      fmt::format_to(std::back_inserter(lines_), "{}\t{}\t{}\t{}\t{}\t{:.6f}\n", sentences_, t + 1, map.rows[t], s + 1,
                     map.columns[s], map.weights.at(static_cast<Index>(t * map.columns.size() + s)));
}

void AttentionFile::write() const {
  write_atomically(path_, picture_ ? sheet_.svg() : lines_);
}

}  // namespace tapestry
