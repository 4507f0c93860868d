#include "models/sentence_sampler.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <unordered_map>

using namespace tapestry;

TEST_SUITE("fast") {
  TEST_CASE("the chooser is SplitMix64, the upper half scaled") {
    // first outputs for seed 1234567, as published with the generator: 6457827717110365317, 3203168211198807973, ...
    Chooser chooser(1234567);
    CHECK(chooser.below(1ull << 32) == 6457827717110365317u >> 32);
    CHECK(chooser.below(1ull << 32) == 3203168211198807973u >> 32);
    CHECK(chooser.below(10) == ((9817491932198370423u >> 32) * 10) >> 32);
  }

  TEST_CASE("pick draws among those that pass, and says when none does") {
    Chooser chooser(3);
    std::set<std::string_view> drawn;
    for (int i = 0; i < 200; ++i)
      drawn.insert(chooser.pick(lexicon::pronouns, [](const auto& entry) { return entry.slot == 1; }).english);
    CHECK(drawn == std::set<std::string_view>{"he", "she"});
    CHECK_THROWS_WITH_AS(chooser.pick(lexicon::pronouns, [](const auto&) { return false; }),
                         "pick: some entry must pass the test; 6 tried", Error);
  }

  TEST_CASE("the French is a function of the English, every word is aligned, lengths keep their bounds") {
    Chooser chooser(2);
    std::unordered_map<std::string, std::vector<std::string>> translation;
    for (int n = 0; n < 30000; ++n) {
      const AlignedPair pair = sample_sentence(chooser);
      std::string english;
      for (const std::string& word : pair.source) english += word + ' ';
      const auto [entry, fresh] = translation.emplace(english, pair.target);
      if (!fresh) REQUIRE_MESSAGE(entry->second == pair.target, english);
      REQUIRE(pair.source.size() >= 5);
      REQUIRE(pair.source.size() <= 15);
      REQUIRE(pair.target.size() <= 17);
      std::vector<bool> source(pair.source.size()), target(pair.target.size());
      for (const auto& [i, j] : pair.alignment) {
        REQUIRE((i >= 0 && j >= 0 && i < static_cast<int>(source.size()) && j < static_cast<int>(target.size())));
        source[static_cast<std::size_t>(i)] = target[static_cast<std::size_t>(j)] = true;
      }
      REQUIRE_MESSAGE(std::find(source.begin(), source.end(), false) == source.end(), english);
      REQUIRE_MESSAGE(std::find(target.begin(), target.end(), false) == target.end(), english);
    }
    CHECK(translation.size() > 29000);
  }
}
