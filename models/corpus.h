#pragma once
// Parallel text: pairs of sentences that are translations of each other.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/segmenter.h"

namespace tapestry {

struct SentencePair {
  Tokens source, target;
};

/// Every pair has at least one token on each side.
struct Corpus {
  std::vector<SentencePair> pairs;
  std::size_t dropped = 0;  ///< pairs that were left out because one side holds no word

  std::size_t size() const { return pairs.size(); }
};

struct CorpusOptions {
  std::size_t pairs = 0;  ///< keep the first so many pairs; 0 keeps all
  bool reverse = false;   ///< translate from the second column or file to the first
  Segmenter segmenter{};  ///< how lines become tokens
};

/// Reads a tab-separated file: source, target, and further columns (the attribution in newer files), which are ignored.
/// Blank lines are skipped. Throws Error as read_lines does, for a line without a tab (file:line), and if no pair is
/// left.
Corpus read_pairs(const std::string& path, const CorpusOptions& options = {});

/// Reads two files that correspond line by line. Throws Error as read_lines does, for unequal numbers of lines (naming
/// both), and if no pair is left.
Corpus read_aligned(const std::string& source_path, const std::string& target_path, const CorpusOptions& options = {});

/// One side of the corpus, for building its vocabulary.
std::vector<Tokens> sources(const Corpus& corpus);
std::vector<Tokens> targets(const Corpus& corpus);

struct Parts {
  Corpus train, valid, test;
};

/// Draws `test` and `valid` distinct source sentences at random; every pair with such a source goes to that part, the
/// others remain for training, all in their order in `corpus`. A source with several translations is one draw, but
/// gives its part one pair per translation, and each is scored as a row of its own. No source sentence occurs in two
/// parts: drawing pairs would leak, because short sentences have many translations.
///
/// The test part depends on `test` and `seed` only, whatever `valid` is.
/// Throws Error unless at least one source sentence remains for training.
Parts split(const Corpus& corpus, std::size_t valid, std::size_t test, std::uint64_t seed);

}  // namespace tapestry
