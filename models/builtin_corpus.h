#pragma once
// The built-in corpus: English-French pairs drawn from the grammar of models/grammar.h, cut into parts, and how hard
// they are.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/synchronous.h"

namespace tapestry {

struct BuiltinCorpus {
  std::vector<AlignedPair> train, validation, test;
};

constexpr std::size_t most_builtin_pairs = 500'000, most_builtin_held_out = 20'000;

/// `pairs` training pairs (1 to 500,000), with validation and test parts that do not depend on `pairs`; a longer
/// training part begins with the shorter. No English sentence occurs twice, in whatever part.
///
/// Compositional split: one adjective-noun or verb-object combination in four is held out (`held_out`) of train and
/// of validation. The test part is drawn from the whole language, so that about a quarter of it asks for a combination
/// whose two words were only ever seen apart.
BuiltinCorpus builtin_corpus(std::size_t pairs, std::uint64_t seed, std::size_t validation = 500,
                             std::size_t test = 1000);

/// Whether training must not show this combination ("red car"): a hash of its letters (FNV-1a), whatever the seed.
bool held_out(std::string_view combination);

/// Share of the test sentences that hold a combination no training sentence holds, in [0, 1].
double unseen_share(const BuiltinCorpus& corpus);

/// What one gets without learning to translate. BLEU of `word_by_word` against `references` is for models/bleu.h to
/// say.
struct Difficulty {
  std::size_t source_forms, target_forms;         // different words, all parts together
  double source_mean_length, target_mean_length;  // in tokens, punctuation included
  std::size_t source_max_length, target_max_length;
  double unseen_share;
  double diagonal_error;                               // alignment error rate of diagonal_alignment on the test part
  std::vector<std::vector<std::string>> word_by_word;  // dictionary translation of the test part, in English order
  std::vector<std::vector<std::string>> references;    // the test part's French
};

/// The dictionary has for every English word the French word most often linked to it in training (the first of the
/// alphabet if two are), and the word itself where there is none.
Difficulty difficulty(const BuiltinCorpus& corpus);

/// How rich the language is: a language of that many equally likely sentences would repeat itself as often in `draws`
/// draws. There are really far more sentences, for the likely ones repeat first. Infinite if nothing repeats.
double effective_sentences(std::size_t draws, std::uint64_t seed);

}  // namespace tapestry
