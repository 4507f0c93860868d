#include "models/corpus.h"

#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/splitmix.h"
#include "models/text_file.h"

namespace tapestry {

namespace {

bool is_full(const Corpus& corpus, const CorpusOptions& options) {
  return options.pairs != 0 && corpus.size() == options.pairs;
}

void add(Corpus& corpus, std::string_view first, std::string_view second, const CorpusOptions& options) {
  SentencePair pair{options.segmenter.split(first), options.segmenter.split(second)};
  if (pair.source.empty() || pair.target.empty()) {
    ++corpus.dropped;
    return;
  }
  if (options.reverse) std::swap(pair.source, pair.target);
  corpus.pairs.push_back(std::move(pair));
}

void require_pairs(const Corpus& corpus, const std::string& name, std::size_t lines) {
  require(corpus.size() > 0, "{}: a line must have words on both sides; none of {} has", name, lines);
}

std::vector<Tokens> side(const Corpus& corpus, Tokens SentencePair::*member) {
  std::vector<Tokens> sentences;
  sentences.reserve(corpus.size());
  for (const SentencePair& pair : corpus.pairs) sentences.push_back(pair.*member);
  return sentences;
}

}  // namespace

Corpus read_pairs(const std::string& path, const CorpusOptions& options) {
  const std::vector<std::string> lines = read_lines(path);
  Corpus corpus;
  for (std::size_t i = 0; i < lines.size() && !is_full(corpus, options); ++i) {
    const std::string_view line = lines[i];
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos && tokenize(line).empty()) continue;
    require(tab != std::string_view::npos, "{}:{}: line must be source, tab, target; it has no tab", path, i + 1);
    const std::string_view rest = line.substr(tab + 1);
    add(corpus, line.substr(0, tab), rest.substr(0, rest.find('\t')), options);
  }
  require_pairs(corpus, path, lines.size());
  return corpus;
}

Corpus read_aligned(const std::string& source_path, const std::string& target_path, const CorpusOptions& options) {
  const std::vector<std::string> source = read_lines(source_path);
  const std::vector<std::string> target = read_lines(target_path);
  require(source.size() == target.size(), "corpus: files must have equally many lines; {} has {}, {} has {}",
          source_path, source.size(), target_path, target.size());
  Corpus corpus;
  for (std::size_t i = 0; i < source.size() && !is_full(corpus, options); ++i)
    add(corpus, source[i], target[i], options);
  require_pairs(corpus, source_path + ", " + target_path, source.size());
  return corpus;
}

std::vector<Tokens> sources(const Corpus& corpus) {
  return side(corpus, &SentencePair::source);
}

std::vector<Tokens> targets(const Corpus& corpus) {
  return side(corpus, &SentencePair::target);
}

Parts split(const Corpus& corpus, std::size_t valid, std::size_t test, std::uint64_t seed) {
  std::map<Tokens, std::size_t> number;  // of each distinct source sentence, in the order of first appearance
  std::vector<std::size_t> number_of_pair;
  for (const SentencePair& pair : corpus.pairs)
    number_of_pair.push_back(number.try_emplace(pair.source, number.size()).first->second);
  const std::size_t n = number.size();
  // Not valid + test < n: that sum may wrap around.
  require(test < n && valid < n - test,
          "split: valid and test must leave a source sentence for training; {} and {} of {} distinct ones", valid, test,
          n);

  std::vector<std::size_t> drawn(n);
  std::iota(drawn.begin(), drawn.end(), std::size_t{0});
  SplitMix64 random(seed);
  shuffle(drawn, random);
  std::vector<Corpus Parts::*> part(n, &Parts::train);
  for (std::size_t i = 0; i < test; ++i) part[drawn[i]] = &Parts::test;
  for (std::size_t i = test; i < test + valid; ++i) part[drawn[i]] = &Parts::valid;

  Parts parts;
  parts.train.dropped = corpus.dropped;
  for (std::size_t i = 0; i < corpus.size(); ++i) (parts.*part[number_of_pair[i]]).pairs.push_back(corpus.pairs[i]);
  return parts;
}

}  // namespace tapestry
