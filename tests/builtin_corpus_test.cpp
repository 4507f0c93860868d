#include "models/builtin_corpus.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/error.h"

using namespace tapestry;

namespace {

/// One corpus for all checks: drawing it takes most of their time.
const BuiltinCorpus& corpus() {
  static const BuiltinCorpus drawn = builtin_corpus(12000, 1);
  return drawn;
}

bool same(const std::vector<AlignedPair>& a, const std::vector<AlignedPair>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const AlignedPair& x, const AlignedPair& y) {
    return x.source == y.source && x.target == y.target && x.alignment == y.alignment;
  });
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("a seed gives the same corpus; more pairs only lengthen the training part") {
    const BuiltinCorpus a = builtin_corpus(120, 7, 30, 40), b = builtin_corpus(70, 7, 30, 40);
    CHECK(a.train.size() == 120);
    CHECK(same(a.validation, b.validation));
    CHECK(same(a.test, b.test));
    CHECK(same({a.train.begin(), a.train.begin() + 70}, b.train));
    CHECK_FALSE(same(a.test, builtin_corpus(70, 8, 30, 40).test));
    CHECK(corpus().validation.size() == 500);
    CHECK(corpus().test.size() == 1000);
  }

  TEST_CASE("no English sentence occurs twice, in whatever part") {
    std::set<std::vector<std::string>> sentences;
    for (const auto* part : {&corpus().train, &corpus().validation, &corpus().test})
      for (const AlignedPair& pair : *part) CHECK(sentences.insert(pair.source).second);
  }

  TEST_CASE("held-out combinations are in the test part only, and their words are known from others") {
    std::map<std::string, std::set<std::string>> partners;  // word of a combination: what it was seen with
    std::set<std::string> seen;
    for (const AlignedPair& pair : corpus().validation)
      for (const std::string& combination : pair.combinations) REQUIRE_FALSE(held_out(combination));
    for (const AlignedPair& pair : corpus().train)
      for (const std::string& combination : pair.combinations) {
        REQUIRE_FALSE(held_out(combination));
        const std::size_t space = combination.find(' ');
        partners[combination.substr(0, space)].insert(combination.substr(space + 1));
        partners[combination.substr(space + 1)].insert(combination.substr(0, space));
        seen.insert(combination);
      }
    std::size_t unseen = 0;
    for (const AlignedPair& pair : corpus().test) {
      bool novel = false;
      for (const std::string& combination : pair.combinations) {
        const std::size_t space = combination.find(' ');
        CHECK(partners[combination.substr(0, space)].size() >= 4);
        CHECK(partners[combination.substr(space + 1)].size() >= 4);
        novel = novel || seen.count(combination) == 0;
      }
      unseen += novel;
    }
    CHECK(unseen >= corpus().test.size() / 5);
    CHECK(unseen_share(corpus()) == doctest::Approx(static_cast<double>(unseen) / 1000.0));
  }

  TEST_CASE("the corpus is as rich as promised, and each word of it can be learnt") {
    const Difficulty hard = difficulty(corpus());
    CHECK(hard.source_forms >= 400);
    CHECK(hard.target_forms >= 400);
    CHECK(hard.source_mean_length >= 8);
    CHECK(hard.target_mean_length >= 8);
    CHECK(hard.source_max_length == 15);
    CHECK(hard.target_max_length <= 17);
    CHECK(effective_sentences(20000, 5) > 1e6);

    std::map<std::string, int> source, target;
    for (const AlignedPair& pair : corpus().train) {
      for (const std::string& word : pair.source) ++source[word];
      for (const std::string& word : pair.target) ++target[word];
    }
    for (const AlignedPair& pair : corpus().test) {
      for (const std::string& word : pair.source) CHECK_MESSAGE(source[word] >= 5, word);
      for (const std::string& word : pair.target) CHECK_MESSAGE(target[word] >= 5, word);
    }
  }

  TEST_CASE("a dictionary translates words where they stand") {
    BuiltinCorpus tiny;
    tiny.train = {{{"red", "car", "."}, {"voiture", "rouge", "."}, {{0, 1}, {1, 0}, {2, 2}}, {}}};
    tiny.test = {{{"car", "red", "blue", "."}, {"a", "b"}, {{0, 0}, {2, 1}, {3, 1}}, {}}};
    const Difficulty hard = difficulty(tiny);
    CHECK(hard.word_by_word == std::vector<std::vector<std::string>>{{"voiture", "rouge", "blue", "."}});
    CHECK(hard.references == std::vector<std::vector<std::string>>{{"a", "b"}});
    CHECK(hard.source_forms == 4);
    CHECK(hard.target_forms == 5);
    CHECK(hard.source_mean_length == doctest::Approx(3.5));
    // the diagonal of 4 and 2 looks at 1 and 3: one of its two links is right, of three
    CHECK(hard.diagonal_error == doctest::Approx(1 - 2.0 / 5.0));
  }

  TEST_CASE("sizes out of range are named") {
    CHECK_THROWS_WITH_AS(builtin_corpus(0, 1), "builtin_corpus: pairs must be from 1 to 500000; 0 given", Error);
    CHECK_THROWS_WITH_AS(builtin_corpus(1, 1, 20001, 5),
                         "builtin_corpus: validation and test must be at most 20000; 20001 and 5 given", Error);
    CHECK_THROWS_WITH_AS(difficulty({}), "difficulty: the corpus must hold a sentence; none given", Error);
  }
}
