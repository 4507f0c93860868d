#pragma once
// The file that --attention writes.

#include <string>

#include "models/evaluate.h"
#include "tools/heat_map.h"

namespace tapestry {

/// Collects the attention of translated sentences: a picture (.svg), or a table (.tsv) with a line for each weight:
/// number of the sentence from 1, target place from 1, target token, source place from 1, source token, weight.
class AttentionFile {
 public:
  /// Errors (UsageError): another ending.
  explicit AttentionFile(const std::string& path);
  /// A sentence without tokens counts, and leaves no trace.
  void add(const TranslatedSentence& sentence);
  /// Writes the file. Errors: as write_atomically.
  void write() const;

 private:
  void add_lines(const HeatMap& map);

  std::string path_;
  bool picture_;
  std::size_t sentences_ = 0;
  HeatMapSheet sheet_;
  std::string lines_ = "sentence\ttarget_place\ttarget\tsource_place\tsource\tweight\n";
};

}  // namespace tapestry
