#include "models/bleu.h"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "models/utf8.h"
#include "tests/shared.h"

using namespace tapestry;
using doctest::Approx;

namespace {

BleuScore score(const char* hypothesis, const char* reference, const BleuOptions& options = {}) {
  return bleu(bleu_stats(hypothesis, reference, options), options);
}

double book(const char* hypothesis, const char* reference, std::size_t k) {
  return book_bleu(split_words(hypothesis), split_words(reference), k);
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("n-grams are counted as often as both sentences hold them") {
    // The example of the BLEU paper: "the" seven times matches twice.
    const BleuStats the = bleu_stats("the the the the the the the", "the cat is on the mat", {});
    CHECK(the.matches == std::array<std::int64_t, 4>{2, 0, 0, 0});
    CHECK(the.totals == std::array<std::int64_t, 4>{7, 6, 5, 4});
    CHECK(the.sys_len == 7);
    CHECK(the.ref_len == 6);
    CHECK(ngram_matches({"a", "b", "a", "b"}, {"a", "b", "a", "b", "a"}, 2) == 3);
    CHECK(ngram_matches({"a", "b"}, {"a b"}, 1) == 0);
    CHECK(ngram_matches({"ab", "c"}, {"a", "bc"}, 2) == 0);
    CHECK(ngram_matches({"a"}, {"a"}, 2) == 0);
    CHECK(ngram_matches({}, {}, 1) == 0);
  }

  TEST_CASE("smoothing of orders without a match") {
    // 4 of 6 words, 1 of 5 pairs (the cat), none of 4 triples, none of 3 quadruples
    const char* const hypothesis = "the cat is on mat here";
    const char* const reference = "the cat sat on the mat";
    const BleuScore exp = score(hypothesis, reference);
    CHECK(exp.precisions[0] == Approx(100 * 4.0 / 6));
    CHECK(exp.precisions[1] == Approx(100 * 1.0 / 5));
    CHECK(exp.precisions[2] == Approx(100 * 0.5 / 4));
    CHECK(exp.precisions[3] == Approx(100 * 0.25 / 3));
    CHECK(exp.bp == 1);
    CHECK(exp.score == Approx(100 * std::pow(4.0 / 6 * 1 / 5 * 0.5 / 4 * 0.25 / 3, 0.25)));  // 19.305
    CHECK(score(hypothesis, reference, {.smoothing = BleuSmoothing::none}).score == 0);
    CHECK(score(hypothesis, reference, {.smoothing = BleuSmoothing::floor}).score ==
          Approx(100 * std::pow(4.0 / 6 * 1 / 5 * 0.1 / 4 * 0.1 / 3, 0.25)));
    CHECK(score(hypothesis, reference, {.smoothing = BleuSmoothing::add_k}).score ==
          Approx(100 * std::pow(4.0 / 6 * 2 / 6 * 1 / 5 * 1 / 4, 0.25)));
  }

  TEST_CASE("short translations are punished, long ones only through precision") {
    const BleuScore brief = score("a b c d", "a b c d e");
    CHECK(brief.bp == Approx(std::exp(-0.25)));
    CHECK(brief.score == Approx(100 * std::exp(-0.25)));
    const BleuScore verbose = score("a b c d e", "a b c d");
    CHECK(verbose.bp == 1);
    CHECK(verbose.score == Approx(100 * std::pow(4.0 / 5 * 3 / 4 * 2 / 3 * 1 / 2, 0.25)));
  }

  TEST_CASE("sentences of fewer than four words") {
    CHECK(score("a b c", "a b c").score == 0);  // no quadruple: undefined, and sacreBLEU says 0
    CHECK(score("a b c", "a b c").precisions == std::array<double, 4>{100, 100, 100, 0});
    CHECK(score("a b c", "a b c", {.effective_order = true}).score == Approx(100));
    CHECK(score("a", "a b", {.effective_order = true}).score == Approx(100 * std::exp(-1)));
  }

  TEST_CASE("empty sentences") {
    for (const bool effective : {false, true}) {
      for (const BleuSmoothing smoothing :
           {BleuSmoothing::none, BleuSmoothing::floor, BleuSmoothing::add_k, BleuSmoothing::exp}) {
        const BleuOptions options{.smoothing = smoothing, .effective_order = effective};
        CHECK(score("", "a b", options).score == 0);
        CHECK(score("", "a b", options).bp == 0);
        CHECK(score("a b", "", options).score == 0);
        CHECK(score("", "", options).score == 0);
        CHECK(score("x y z w", "a b c d", options).score == 0);
        CHECK(score("x y z w", "a b c d", options).precisions == std::array<double, 4>{});
      }
    }
    CHECK(corpus_bleu({}, {}).score == 0);
  }

  TEST_CASE("a corpus sums before it scores") {
    const std::vector<std::string> hypotheses = {"a b c d", "x y z"}, references = {"a b c d", "x y"};
    const BleuScore corpus = corpus_bleu(hypotheses, references);
    CHECK(corpus.stats.matches == std::array<std::int64_t, 4>{6, 4, 2, 1});
    CHECK(corpus.stats.totals == std::array<std::int64_t, 4>{7, 5, 3, 1});
    CHECK(corpus.stats.sys_len == 7);
    CHECK(corpus.stats.ref_len == 6);
    CHECK(corpus.score == Approx(100 * std::pow(6.0 / 7 * 4 / 5 * 2 / 3, 0.25)));
    CHECK_THROWS_WITH_AS(corpus_bleu(hypotheses, {}),
                         "corpus_bleu: translations and references must be equally many; 2 and 0", Error);
  }

  TEST_CASE("case counts unless it is told not to") {
    CHECK(score("Élan VITAL et fou", "élan vital et fou").score < 50);
    CHECK(score("Élan VITAL et fou", "élan vital et fou", {.lowercase = true}).score == Approx(100));
  }

  TEST_CASE("the signature has sacreBLEU's form") {
    CHECK(bleu_signature({}) == "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:tapestry-" TAPESTRY_VERSION);
    CHECK(bleu_signature({BleuTokenizer::none, true, BleuSmoothing::floor, true}) ==
          "nrefs:1|case:lc|eff:yes|tok:none|smooth:floor[0.10]|version:tapestry-" TAPESTRY_VERSION);
    CHECK(bleu_signature({.smoothing = BleuSmoothing::none}).find("|smooth:none|") != std::string::npos);
    CHECK(bleu_signature({.smoothing = BleuSmoothing::add_k}).find("|smooth:add-k[1.00]|") != std::string::npos);
  }

  TEST_CASE("the book's score") {
    CHECK(book("va !", "va !", 2) == 1);
    // The book prints 0.658 for this one: 3 of 4 words, 1 of 3 pairs.
    CHECK(book("il est paresseux .", "il est calme .", 2) == Approx(std::sqrt(3.0 / 4) * std::pow(1.0 / 3, 0.25)));
    CHECK(book("a b", "a b c d", 2) == Approx(std::exp(-1)));
    CHECK(book("a b c d", "a b", 2) == Approx(std::sqrt(2.0 / 4) * std::pow(1.0 / 3, 0.25)));
    CHECK(book("a b c", "a b d", 3) == 0);
    CHECK(book("a a a", "a", 1) == Approx(std::sqrt(1.0 / 3)));
    // too short for k, or empty
    CHECK(book("a", "a", 2) == 0);
    CHECK(book("a", "a", 1) == 1);
    CHECK(book("", "a", 1) == 0);
    CHECK(book("a", "", 1) == 0);
    CHECK(book("", "", 1) == 0);
    CHECK_THROWS_WITH_AS(book("a", "a", 0), "book_bleu: k must be at least 1; 0", Error);
  }
}

TEST_SUITE("shared") {
  TEST_CASE("every case sacreBLEU scored") {
    const auto path = shared_path("oracle/bleu.jsonl");
    if (!path) {
      MESSAGE("skipped: no oracle/bleu.jsonl in ../shared");
      return;
    }
    const std::map<std::string, BleuTokenizer> tokenizers = {{"none", BleuTokenizer::none},
                                                             {"13a", BleuTokenizer::mteval_13a}};
    const std::map<std::string, BleuSmoothing> smoothings = {{"none", BleuSmoothing::none},
                                                             {"floor", BleuSmoothing::floor},
                                                             {"add-k", BleuSmoothing::add_k},
                                                             {"exp", BleuSmoothing::exp}};
    std::ifstream file(*path);
    int cases = 0;
    for (std::string line; std::getline(file, line); ++cases) {
      const nlohmann::json expected = nlohmann::json::parse(line);
      const std::string name = expected.at("case");
      CAPTURE(name);
      const BleuOptions options{.tokenizer = tokenizers.at(expected.at("tokenize")),
                                .lowercase = expected.at("lowercase"),
                                .smoothing = smoothings.at(expected.at("smooth")),
                                .effective_order = expected.value("effective_order", false)};
      const BleuScore got = corpus_bleu(expected.at("hypotheses").get<std::vector<std::string>>(),
                                        expected.at("references").get<std::vector<std::string>>(), options);
      // The statistics are whole numbers, so that agreement is far closer than the 0.01 that is asked for.
      CHECK(std::abs(got.score - expected.at("score").get<double>()) < 1e-9);
      for (std::size_t n = 0; n < 4; ++n)
        CHECK(std::abs(got.precisions[n] - expected.at("precisions").at(n).get<double>()) < 1e-9);
      CHECK(std::abs(got.bp - expected.at("bp").get<double>()) < 1e-12);
      CHECK(got.stats.sys_len == expected.at("sys_len"));
      CHECK(got.stats.ref_len == expected.at("ref_len"));
      const std::string signature = expected.at("signature"), ours = bleu_signature(options);
      CHECK(ours.substr(0, ours.find("version")) == signature.substr(0, signature.find("version")));
    }
    CHECK(cases >= 56);
  }
}
