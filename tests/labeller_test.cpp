// One label of a sequence, one of each token: the answers that are known, and the models that say them.

#include "models/labeller.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "models/builtin_corpus.h"
#include "models/fit.h"
#include "models/label_task.h"

using namespace tapestry;

namespace {

LabellerShape small(const std::string& encoder, bool each) {
  LabellerShape shape{encoder, each, 13, 9, 4, 6, 2};
  shape.transformer = {8, 6, 2, 2};
  shape.transformer.dropout = 0;
  return shape;
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("labels: parity is that of the ones, depth the deepest nesting") {
    for (const LabelledSequence& sequence : label_task({"parity", 200, 1, 9, 4})) {
      const auto ones = std::count(sequence.tokens.begin(), sequence.tokens.end(), "1");
      CHECK(sequence.labels == Tokens{ones % 2 == 1 ? "odd" : "even"});
      CHECK(sequence.tokens.size() <= 9);
    }
    std::set<std::string> depths;
    for (const LabelledSequence& sequence : label_task({"depth", 500, 1, 30, 4})) {
      Index open = 0, deepest = 0;
      for (const std::string& token : sequence.tokens) {
        open += token == "(" ? 1 : -1;
        CHECK(open >= 0);
        deepest = std::max(deepest, open);
      }
      CHECK(sequence.labels == Tokens{std::to_string(deepest)});
      depths.insert(sequence.labels[0]);
    }
    CHECK(depths == std::set<std::string>{"1", "2", "3", "4", "5"});
  }

  TEST_CASE("labels: tasks that are none are refused") {
    CHECK_THROWS_WITH_AS(label_task({"sum"}), "--task: must be one of parity, depth; given sum", UsageError);
    CHECK_THROWS_WITH_AS(label_task({"parity", 0}), "--sequences: must lie in [1, 10000000]; given 0", UsageError);
    CHECK_THROWS_WITH_AS(label_task({"parity", 5, 4, 3}),
                         "--length: must be LOW-HIGH with 1 <= LOW <= HIGH <= 1000; given 4-3", UsageError);
  }

  TEST_CASE("labels: every English word of the built-in corpus has a grammatical role") {
    const BuiltinCorpus corpus = builtin_corpus(3000, 1, 0, 0);
    const std::vector<std::string>& known = grammatical_roles();
    std::set<std::string> seen;
    for (const AlignedPair& pair : corpus.train) {
      REQUIRE(pair.roles.size() == pair.source.size());
      CHECK(pair.roles.back() == "punctuation");
      for (std::size_t i = 0; i < pair.roles.size(); ++i) {
        CHECK(std::find(known.begin(), known.end(), pair.roles[i]) != known.end());
        if (pair.roles[i] == "other") CHECK(pair.source[i] == "there");
        if (pair.source[i] == "a" || pair.source[i] == "no") CHECK(pair.roles[i] == "determiner");
        seen.insert(pair.roles[i]);
      }
    }
    CHECK(seen.size() == known.size());
  }

  TEST_CASE("labeller: padding and the sentences beside it change no label") {
    const std::vector<std::vector<std::int32_t>> rows{{4, 5, 6, 4, 3}, {9, 3}, {7}, {10, 4, 8, 3}};
    for (const std::string& encoder : labeller_encoders())
      for (const bool each : {false, true}) {
        ParameterStore store(DType::f64, 3);
        const Labeller model(small(encoder, each), Scope(store));
        const Tensor together = model(pad(rows), Pass{}).value();  // [4,5,F] or [4,1,F]
        CHECK(together.size(1) == (each ? 5 : 1));
        for (std::size_t b = 0; b < rows.size(); ++b) {
          const Tensor alone = model(pad(std::vector<std::vector<std::int32_t>>{rows[b]}), Pass{}).value();
          const Index width = alone.size(2), first = static_cast<Index>(b) * together.size(1) * width;
          for (Index i = 0; i < alone.numel(); ++i) CHECK(std::abs(together.at(first + i) - alone.at(i)) <= 1e-12);
        }
      }
  }

  TEST_CASE("labeller: an encoder that is none is refused") {
    ParameterStore store(DType::f64, 3);
    CHECK_THROWS_WITH_AS(Labeller(small("lstm", true), Scope(store)),
                         "--encoder: must be one of gru, transformer; given lstm", UsageError);
  }

  TEST_CASE("labels: scores count labels, and sequences without a wrong one") {
    const std::vector<Example> examples{{{4, 5}, {6, 7}}, {{4}, {6}}};
    const LabelScore score = score_labels({{6, 8}, {6}}, examples);
    CHECK(score.labels == doctest::Approx(2.0 / 3).epsilon(1e-15));
    CHECK(score.sequences == 0.5);
    CHECK_THROWS_WITH_AS(score_labels({}, {}),
                         "labels: there must be some, of as many sequences as have answers; given 0 and 0", Error);
    CHECK_THROWS_WITH_AS(score_labels({{6}, {6}}, examples), "labels: sequence 0 must have 2; given 1", Error);
  }
}

TEST_SUITE("train") {
  TEST_CASE("labeller: training gives the same bits on any number of threads, and parity of short rows is learnt") {
    const auto sequences = label_task({"parity", 500, 1, 6, 1});
    const auto vocabularies = label_vocabularies(sequences);
    const std::vector<Example> examples = label_examples(sequences, vocabularies.first, vocabularies.second);
    std::vector<std::vector<double>> tables;
    for (const int threads : {1, 2}) {
      ParameterStore store(DType::f32, 1);
      const Labeller model({"gru", false, 6, 6, 16, 16}, Scope(store));
      core::Workers workers(threads);
      fit([&](const Batch& batch, const Pass& pass) { return labelling_loss(model, batch, pass); }, store, workers,
          {300, 0.01, 1}, [&](Index) { return examples; });
      CHECK(score_labels(label(model, examples, workers), examples).labels == 1);
      tables.push_back(store["out.weight"].value().values());
    }
    CHECK(tables[0] == tables[1]);
  }
}
