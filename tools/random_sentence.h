#pragma once
// Text for what is only timed.

#include <cstdint>
#include <vector>

#include "core/random.h"
#include "models/vocabulary.h"

namespace tapestry {

/// The ids of a sentence of so many tokens, <eos> included: random words of a vocabulary of `words`.
inline std::vector<std::int32_t> random_sentence(core::Random& random, Index words, Index tokens) {
  constexpr std::int32_t first_word = Vocabulary::eos + 1;
  std::vector<std::int32_t> ids;
  for (Index t = 1; t < tokens; ++t)
    ids.push_back(first_word + static_cast<std::int32_t>(random.below(words - first_word)));
  ids.push_back(Vocabulary::eos);
  return ids;
}

}  // namespace tapestry
