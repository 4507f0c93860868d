#include "models/run_data.h"

#include "models/builtin_corpus.h"

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
               {}};
  for (const auto& pair : corpus.test) {
    Alignment alignment = pair.alignment;
    if (config.reverse)
      for (auto& [source, target] : alignment) std::swap(source, target);
    data.test_alignments.push_back(std::move(alignment));
  }
  return data;
}

}  // namespace

Corpus read_part(const RunConfig& config, const std::vector<std::string>& files, const char* option) {
  const std::size_t wanted = config.source.empty() ? 1 : 2;
  if (files.size() != wanted)
    throw UsageError(fmt::format("--{}: must be a number, or {} like the training text; given {} values", option,
                                 wanted == 1 ? "one file" : "two files", files.size()));
  const CorpusOptions options{0, config.reverse};
  return wanted == 1 ? read_pairs(files[0], options) : read_aligned(files[0], files[1], options);
}

RunData load_data(const RunConfig& config) {
  if (config.builtin()) {
    if (!config.valid_files.empty() || !config.test_files.empty())
      throw UsageError("--valid and --test: must be numbers for the built-in corpus");
    return load_builtin(config);
  }
  const CorpusOptions options{static_cast<std::size_t>(config.pairs), config.reverse};
  const Corpus corpus =
      config.data.empty() ? read_aligned(config.source, config.target, options) : read_pairs(config.data, options);
  Parts parts =
      split(corpus, static_cast<std::size_t>(config.valid), static_cast<std::size_t>(config.test), config.split_seed);
  if (!config.valid_files.empty()) parts.valid = read_part(config, config.valid_files, "valid");
  if (!config.test_files.empty()) parts.test = read_part(config, config.test_files, "test");
  return {std::move(parts.train), std::move(parts.valid), std::move(parts.test), {}};
}

}  // namespace tapestry
