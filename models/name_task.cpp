#include "models/name_task.h"

#include <array>
#include <sstream>
#include <string_view>

#include "core/error.h"
#include "core/random.h"
#include "models/builtin_corpus.h"

namespace tapestry {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

// A, B and C are names, V is a verb, K a kind of person, D a day.
constexpr std::array<Pair, 8> frames{{{"A V B on D .", "D A a V B ."},
                                      {"A was V by B .", "B a V A ."},
                                      {"A lives in B .", "A habite à B ."},
                                      {"do you know A ?", "connais-tu A ?"},
                                      {"A and B live in C .", "A et B habitent à C ."},
                                      {"the K of A lives in B .", "le K de A habite à B ."},
                                      {"B got a letter from A yesterday .", "hier A a écrit une lettre à B ."},
                                      {"A V the K of B .", "A a V le K de B ."}}};
constexpr std::array<Pair, 8> verbs{{{"met", "rencontré"},
                                     {"heard", "entendu"},
                                     {"found", "trouvé"},
                                     {"helped", "aidé"},
                                     {"called", "appelé"},
                                     {"thanked", "remercié"},
                                     {"followed", "suivi"},
                                     {"invited", "invité"}}};
constexpr std::array<Pair, 6> kinds{{{"brother", "frère"},
                                     {"father", "père"},
                                     {"son", "fils"},
                                     {"neighbour", "voisin"},
                                     {"doctor", "médecin"},
                                     {"teacher", "professeur"}}};
constexpr std::array<Pair, 5> days{{{"monday", "lundi"},
                                    {"tuesday", "mardi"},
                                    {"wednesday", "mercredi"},
                                    {"friday", "vendredi"},
                                    {"sunday", "dimanche"}}};

std::string draw_name(core::Random& random, bool unseen) {
  constexpr std::string_view consonants = "bdfgjklmnprstvz", vowels = "aeiou";
  for (;;) {
    std::string name;
    for (Index left = 2 + random.below(2); left > 0; --left) {
      name += consonants[static_cast<std::size_t>(random.below(static_cast<Index>(consonants.size())))];
      name += vowels[static_cast<std::size_t>(random.below(static_cast<Index>(vowels.size())))];
    }
    if (held_out(name) == unseen) return name;
  }
}

template <std::size_t n>
const Pair& draw(core::Random& random, const std::array<Pair, n>& table) {
  return table[static_cast<std::size_t>(random.below(static_cast<Index>(n)))];
}

SentencePair draw_sentence(core::Random& random, bool unseen) {
  const Pair& frame = draw(random, frames);
  const Pair &verb = draw(random, verbs), &kind = draw(random, kinds), &day = draw(random, days);
  std::array<std::string, 3> names;
  for (std::string& name : names) name = draw_name(random, unseen);
  const auto fill = [&](std::string_view side, std::string_view Pair::*text) {
    Tokens tokens;
    std::istringstream words{std::string(side)};
    for (std::string word; words >> word;) {
      if (word >= "A" && word <= "C") word = names[static_cast<std::size_t>(word[0] - 'A')];
      if (word == "V") word = verb.*text;
      if (word == "K") word = kind.*text;
      if (word == "D") word = day.*text;
      tokens.push_back(word);
    }
    return tokens;
  };
  return {fill(frame.first, &Pair::first), fill(frame.second, &Pair::second)};
}

}  // namespace

Corpus name_task(Index pairs, bool unseen, std::uint64_t seed) {
  constexpr Index most = 1'000'000;
  require_within("--pairs", pairs, 1, most);
  constexpr std::uint64_t stream = 0x9a3e5;  // apart from those of parameters, masks and orders
  core::Random random(seed, stream + unseen);
  Corpus corpus;
  for (Index i = 0; i < pairs; ++i) corpus.pairs.push_back(draw_sentence(random, unseen));
  return corpus;
}

}  // namespace tapestry
