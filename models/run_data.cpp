#include "models/run_data.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "models/builtin_corpus.h"
#include "models/text_file.h"

namespace tapestry {
namespace {

Corpus to_corpus(const std::vector<AlignedPair>& pairs, bool reverse) {
  Corpus corpus;
  for (const auto& pair : pairs) {
    if (reverse)
      corpus.pairs.push_back({pair.target, pair.source});
    else
      corpus.pairs.push_back({pair.source, pair.target});
  }
  return corpus;
}

RunData load_builtin(const RunConfig& config) {
  constexpr Index default_pairs = 20000;
  const auto count = [](Index n) { return static_cast<std::size_t>(n); };
  const BuiltinCorpus corpus = builtin_corpus(count(config.pairs > 0 ? config.pairs : default_pairs), config.split_seed,
                                              count(config.valid), count(config.test));
  RunData data{to_corpus(corpus.train, config.reverse),
               to_corpus(corpus.validation, config.reverse),
               to_corpus(corpus.test, config.reverse),
               {},
               Segmenter()};
  for (const auto& pair : corpus.test) {
    Alignment alignment = pair.alignment;
    if (config.reverse)
      for (auto& [source, target] : alignment) std::swap(source, target);
    data.test_alignments.push_back(std::move(alignment));
  }
  return data;
}

RunData load_files(const RunConfig& config, const Segmenter& segmenter) {
  const CorpusOptions options{static_cast<std::size_t>(config.pairs), config.reverse, segmenter};
  const Corpus corpus =
      config.data.empty() ? read_aligned(config.source, config.target, options) : read_pairs(config.data, options);
  Parts parts =
      split(corpus, static_cast<std::size_t>(config.valid), static_cast<std::size_t>(config.test), config.split_seed);
  if (!config.valid_files.empty()) parts.valid = read_part(config, segmenter, config.valid_files, "valid");
  if (!config.test_files.empty()) parts.test = read_part(config, segmenter, config.test_files, "test");
  return {std::move(parts.train), std::move(parts.valid), std::move(parts.test), {}, segmenter};
}

RunData load_words(const RunConfig& config, const Segmenter& segmenter) {
  if (!config.builtin()) return load_files(config, segmenter);
  if (!config.valid_files.empty() || !config.test_files.empty())
    throw UsageError("--valid and --test: must be numbers for the built-in corpus");
  return load_builtin(config);
}

Segmenter learn_subwords(const RunConfig& config, const Corpus& train) {
  std::vector<std::string> lines;
  for (const auto& side : {sources(train), targets(train)})
    for (const Tokens& words : side) lines.push_back(spaced(words));
  return Segmenter(Subwords::train(lines, config.subwords));
}

}  // namespace

Corpus read_part(const RunConfig& config, const Segmenter& segmenter, const std::vector<std::string>& files,
                 const char* option) {
  const std::size_t wanted = config.source.empty() ? 1 : 2;
  if (files.size() != wanted)
    throw UsageError(fmt::format("--{}: must be a number, or {} like the training text; given {} values", option,
                                 wanted == 1 ? "one file" : "two files", files.size()));
  const CorpusOptions options{0, config.reverse, segmenter};
  return wanted == 1 ? read_pairs(files[0], options) : read_aligned(files[0], files[1], options);
}

RunData load_data(const RunConfig& config, const std::optional<Segmenter>& of_run) {
  if (config.subwords == 0) return load_words(config, Segmenter(config.tokenizer));
  // Parts are drawn from the plain text, then cut into pieces: so the same are drawn whatever the pieces.
  RunData data = load_words(config, Segmenter("spaces"));
  data.segmenter = of_run ? *of_run : learn_subwords(config, data.train);
  data.test_alignments.clear();  // they are of words
  for (Corpus* part : {&data.train, &data.valid, &data.test})
    for (SentencePair& pair : part->pairs) {
      pair.source = data.segmenter.split(spaced(pair.source));
      pair.target = data.segmenter.split(spaced(pair.target));
    }
  return data;
}

std::string suitable_tokenizer(const RunConfig& config) {
  if (config.builtin()) return "book";
  const auto has_joiner = [](const std::string& line) { return line.find("@@ ") != std::string::npos; };
  for (const std::string& path : {config.data, config.source, config.target}) {
    if (path.empty()) continue;
    const std::vector<std::string> lines = read_lines(path);
    if (std::any_of(lines.begin(), lines.end(), has_joiner)) return "spaces";
  }
  return "book";
}

std::pair<Vocabulary, Vocabulary> vocabularies(const RunConfig& config, const RunData& data) {
  if (const Subwords* subwords = data.segmenter.subwords()) {
    const Vocabulary pieces({subwords->pieces()}, 1);
    return {pieces, pieces};
  }
  const auto min_count = static_cast<std::size_t>(config.min_count);
  std::vector<Tokens> source = sources(data.train), target = targets(data.train);
  if (!config.joint_vocabulary) return {Vocabulary(source, min_count), Vocabulary(target, min_count)};
  source.insert(source.end(), std::make_move_iterator(target.begin()), std::make_move_iterator(target.end()));
  const Vocabulary joint(source, min_count);
  return {joint, joint};
}

}  // namespace tapestry
