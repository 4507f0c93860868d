#pragma once
// Options that say how a run translates, and how that is scored.

#include <optional>
#include <string>

#include "models/evaluate.h"
#include "tools/options.h"

namespace tapestry {

/// --beam and --length-penalty; with `alternatives` also --n-best, --sample, --temperature, --top-k and --seed.
class DecodingFlags {
 public:
  DecodingFlags(CLI::App& command, bool alternatives);
  DecodingFlags(const DecodingFlags&) = delete;  // options point to it
  DecodingFlags& operator=(const DecodingFlags&) = delete;

  /// Errors (UsageError): a value out of range, or an option without the one that it refines.
  DecodingOptions options() const;
  bool n_best() const { return command_.count("--n-best") > 0; }

 private:
  CLI::App& command_;
  DecodingOptions options_;
  Sampling sampling_;
  bool sample_ = false;
};

/// --tokenize and --lowercase: what of a run's own way to score is changed.
class BleuFlags {
 public:
  void add_to(CLI::App& command);
  BleuOptions options(const Run& run) const;

 private:
  std::optional<BleuTokenizer> tokenizer_;
  bool lowercase_ = false;
};

/// "precisions 71.0/47.5/34.3/24.5, brevity penalty 0.999, length 12065 of 12080 (ratio 0.999)".
std::string bleu_details(const BleuScore& bleu);

/// How decoding goes, in words: "greedy", or "beam 5, length penalty 1".
std::string description(const DecodingOptions& options);

}  // namespace tapestry
