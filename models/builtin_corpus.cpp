#include "models/builtin_corpus.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "core/error.h"
#include "models/sentence_sampler.h"

namespace tapestry {

namespace {

std::string joined(const std::vector<std::string>& tokens) {
  std::string line;
  for (const std::string& token : tokens) line += token + ' ';
  return line;
}

bool holds_held_out(const AlignedPair& pair) {
  return std::any_of(pair.combinations.begin(), pair.combinations.end(),
                     [](const std::string& combination) { return held_out(combination); });
}

struct Lengths {
  std::set<std::string> forms;
  std::size_t tokens = 0, longest = 0;

  void add(const std::vector<std::string>& sentence) {
    forms.insert(sentence.begin(), sentence.end());
    tokens += sentence.size();
    longest = std::max(longest, sentence.size());
  }
};

std::map<std::string, std::string> dictionary(const std::vector<AlignedPair>& train) {
  std::map<std::string, std::map<std::string, std::size_t>> counts;
  for (const AlignedPair& pair : train)
    for (const auto& [i, j] : pair.alignment)
      ++counts[pair.source[static_cast<std::size_t>(i)]][pair.target[static_cast<std::size_t>(j)]];
  std::map<std::string, std::string> best;
  for (const auto& [word, translations] : counts)
    best[word] = std::max_element(translations.begin(), translations.end(), [](const auto& a, const auto& b) {
                   return a.second < b.second;
                 })->first;
  return best;
}

}  // namespace

BuiltinCorpus builtin_corpus(std::size_t pairs, std::uint64_t seed, std::size_t validation, std::size_t test) {
  require(pairs >= 1 && pairs <= most_builtin_pairs, "builtin_corpus: pairs must be from 1 to {}; {} given",
          most_builtin_pairs, pairs);
  require(validation <= most_builtin_held_out && test <= most_builtin_held_out,
          "builtin_corpus: validation and test must be at most {}; {} and {} given", most_builtin_held_out, validation,
          test);
  Chooser chooser(seed);
  std::unordered_set<std::string> taken;
  const auto draw = [&](std::size_t count, bool whole_language) {
    std::vector<AlignedPair> part;
    while (part.size() < count) {
      AlignedPair pair = sample_sentence(chooser);
      if (!whole_language && holds_held_out(pair)) continue;
      if (taken.insert(joined(pair.source)).second) part.push_back(std::move(pair));
    }
    return part;
  };
  BuiltinCorpus corpus;
  corpus.test = draw(test, true);
  corpus.validation = draw(validation, false);
  corpus.train = draw(pairs, false);
  return corpus;
}

bool held_out(std::string_view combination) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char letter : combination) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  return (hash >> 32) % 4 == 0;  // the low bits of FNV hardly mix
}

double unseen_share(const BuiltinCorpus& corpus) {
  if (corpus.test.empty()) return 0.0;
  std::unordered_set<std::string> seen;
  for (const AlignedPair& pair : corpus.train) seen.insert(pair.combinations.begin(), pair.combinations.end());
  const auto unseen = std::count_if(corpus.test.begin(), corpus.test.end(), [&](const AlignedPair& pair) {
    return std::any_of(pair.combinations.begin(), pair.combinations.end(),
                       [&](const std::string& combination) { return seen.count(combination) == 0; });
  });
  return static_cast<double>(unseen) / static_cast<double>(corpus.test.size());
}

Difficulty difficulty(const BuiltinCorpus& corpus) {
  Lengths source, target;
  std::size_t sentences = 0;
  for (const auto* part : {&corpus.train, &corpus.validation, &corpus.test})
    for (const AlignedPair& pair : *part) {
      source.add(pair.source);
      target.add(pair.target);
      ++sentences;
    }
  require(sentences > 0, "difficulty: the corpus must hold a sentence; none given");
  const double count = static_cast<double>(sentences);
  Difficulty result{source.forms.size(),
                    target.forms.size(),
                    static_cast<double>(source.tokens) / count,
                    static_cast<double>(target.tokens) / count,
                    source.longest,
                    target.longest,
                    unseen_share(corpus),
                    0.0,
                    {},
                    {}};
  const std::map<std::string, std::string> translations = dictionary(corpus.train);
  std::vector<Alignment> diagonal, gold;
  for (const AlignedPair& pair : corpus.test) {
    std::vector<std::string> translated;
    for (const std::string& word : pair.source) {
      const auto found = translations.find(word);
      translated.push_back(found == translations.end() ? word : found->second);
    }
    result.word_by_word.push_back(std::move(translated));
    result.references.push_back(pair.target);
    diagonal.push_back(diagonal_alignment(pair.source.size(), pair.target.size()));
    gold.push_back(pair.alignment);
  }
  result.diagonal_error = alignment_error_rate(diagonal, gold);
  return result;
}

double effective_sentences(std::size_t draws, std::uint64_t seed) {
  Chooser chooser(seed);
  std::unordered_map<std::string, std::size_t> times;
  double repeats = 0;  // pairs of draws that gave the same sentence
  for (std::size_t i = 0; i < draws; ++i)
    repeats += static_cast<double>(times[joined(sample_sentence(chooser).source)]++);
  if (repeats == 0) return std::numeric_limits<double>::infinity();
  const double n = static_cast<double>(draws);
  return n * (n - 1) / 2 / repeats;
}

}  // namespace tapestry
