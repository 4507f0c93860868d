#include "models/pointer_generator.h"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <set>

#include "autograd/ops.h"
#include "models/greedy.h"
#include "models/name_task.h"
#include "tests/golden.h"
#include "tests/twins.h"

using namespace tapestry;

namespace {

const ModelShape shape{"bahdanau-paper", 9, 6, 5, 6, 1, 0};

// Sentences whose words 6 and 7 the target vocabulary lacks.
const std::vector<Example> sentences{
    {{4, 0, 0, 4, 3}, {5, 7, 3}, {4, 6, 7, 4, 3}}, {{0, 3}, {6, 6, 4, 3}, {6, 3}}, {{5, 0, 3}, {5, 3}, {5, 6, 3}}};

// A model that always copies, or always generates.
void set_gate(const PointerGenerator& model, double logit) {
  model.gate.weight.value().fill(0);
  model.gate.bias.value().fill(logit);
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("copying: a mixture worked by hand") {
    // softmax = (1/2, 1/4, 1/4), p_gen = 3/4, and the source says word 2 once and the unknown word 3 twice.
    const Var logits(Tensor::from({std::log(2), 0, 0}, {1, 3}, DType::f64));
    const Var gate(Tensor::from({std::log(3)}, {1, 1}, DType::f64));
    const Var attention(Tensor::from({0.5, 0.3, 0.2}, {1, 3}, DType::f64));
    const Ids words({2, 3, 3}, {1, 3});
    const Tensor p = copy_distribution(logits, gate, attention, words, 1).value();
    const double wanted[] = {0.375, 0.1875, 0.1875 + 0.125, 0.125};
    for (Index w = 0; w < 4; ++w) {
      CHECK(p.at(w) == doctest::Approx(wanted[w]).epsilon(1e-14));
      const Var nll = copy_nll(reshape(logits, {1, 1, 3}), reshape(gate, {1, 1, 1}), reshape(attention, {1, 1, 3}),
                               words, Ids({static_cast<std::int32_t>(w)}, {1, 1}));
      CHECK(nll.value().item() == doctest::Approx(-std::log(wanted[w])).epsilon(1e-14));
    }
  }

  TEST_CASE("copying: the loss is that of the whole distribution, and PyTorch's") {
    const Ids words({2, 5, 4, 6, 5, 5, 3, 1}, {2, 4}), targets({6, 2, 3, 5, 0, 1}, {2, 3});
    const auto of = [&](const auto& nll) {
      return [&, nll](const std::vector<Var>& in) {
        return std::vector{nll(in[0], in[1], softmax(in[2]), words, targets)};
      };
    };
    check_twins({{2, 3, 5}, {2, 3, 1}, {2, 3, 4}}, of(copy_nll), of(copy_nll_reference));

    std::ifstream file(SOURCE_DIR "/tests/golden/models.json");
    std::set<std::string> seen;
    const nlohmann::json cases = nlohmann::json::parse(file).at("cases");
    for (const auto& golden : cases)
      for (const DType dtype : {DType::f64, DType::f32}) {
        const std::string op = golden.at("op");
        CAPTURE(op);
        seen.insert(op);
        const auto call = [&](const std::vector<Var>& in, const nlohmann::json& a) {
          const Ids of_source = golden_ids(a["words"]);
          return std::vector{op == "copy_nll"
                                 ? copy_nll(in[0], in[1], in[2], of_source, golden_ids(a["targets"]))
                                 : copy_distribution(in[0], in[1], in[2], of_source, a["unknown"].get<Index>())};
        };
        check_golden_case(golden, call, dtype, dtype == DType::f64 ? 1e-12 : 1e-4);
      }
    CHECK(seen == std::set<std::string>{"copy_distribution", "copy_nll"});
  }

  TEST_CASE("copying: a word that neither side has is improbable, not impossible") {
    const Var logits(Tensor::zeros({1, 1, 3}, DType::f32)), gate(Tensor::zeros({1, 1, 1}, DType::f32));
    const Var attention(Tensor::full({1, 1, 1}, 1, DType::f32));
    const double nll = copy_nll(logits, gate, attention, Ids({2}, {1, 1}), Ids({3}, {1, 1})).value().item();
    CHECK(nll == doctest::Approx(-std::log(0.5e-30)).epsilon(1e-5));
  }

  TEST_CASE("copying: unknown words of a source have ids of their own") {
    const Vocabulary source({{"who", "is", "?"}}, 1), target({{"qui", "est", "?", "et"}}, 1);
    const CopyExample example =
        copy_example({{"who", "is", "vatu", "?", "mora", "vatu"}, {"qui", "est", "mora", "bidu", "?"}}, source, target);
    CHECK(example.unknown == Tokens{"who", "is", "vatu", "mora"});
    CHECK(example.ids.source == TokenIds{4, 5, 0, 6, 0, 0, 3});
    CHECK(example.ids.words == TokenIds{8, 9, 10, 6, 11, 10, 3});
    CHECK(example.ids.target == TokenIds{4, 5, 11, 0, 6, 3});
  }

  TEST_CASE("copying: words that only the source has can be said, and without copying nothing changes") {
    ParameterStore store(DType::f64, 3);
    const PointerGenerator model(shape, Scope(store));
    std::vector<TokenIds> sources;
    for (const Example& example : sentences) sources.push_back(example.source);
    core::Workers one(1), two(2);

    set_gate(model, 40);
    const auto generated = copy_greedy(model, sentences, one);
    const auto greedily = greedy(*model.base, sources, one);
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      CHECK(generated[i].ids == greedily[i].ids);
      for (const double p_gen : generated[i].generated) CHECK(p_gen == doctest::Approx(1));
    }

    set_gate(model, -40);
    const auto copied = copy_greedy(model, sentences, two);
    bool unknown = false;
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      const auto steps = static_cast<Index>(copied[i].ids.size()) + copied[i].ended;
      CHECK(copied[i].attention.shape() == Shape{steps, static_cast<Index>(sources[i].size())});
      CHECK(static_cast<Index>(copied[i].generated.size()) == steps);
      CHECK(steps <= 2 * static_cast<Index>(sources[i].size()) + 10);
      const std::set<std::int32_t> words(sentences[i].words.begin(), sentences[i].words.end());
      for (const std::int32_t id : copied[i].ids) {
        CHECK(words.count(id) == 1);
        unknown = unknown || id >= shape.target_vocabulary;
      }
    }
    CHECK(unknown);
  }

  TEST_CASE("copying: neither padding nor the neighbours in a batch change a sentence's loss") {
    for (const bool reference : {false, true}) {
      ParameterStore store(DType::f64, 3);
      const PointerGenerator model(shape, Scope(store, reference));
      double alone = 0;
      for (const Example& example : sentences) {
        const Example* const row = &example;
        alone += copy_loss(model, make_batch(std::span(&row, 1)), Pass{}).nll;
      }
      CHECK(copy_loss(model, make_batch(all_rows(sentences)), Pass{}).nll == doctest::Approx(alone).epsilon(1e-12));
    }
  }

  TEST_CASE("copying: what does not fit is refused") {
    const Var logits(Tensor::zeros({2, 3, 5}, DType::f32)), gate(Tensor::zeros({2, 3, 1}, DType::f32));
    const Ids words({0, 0, 0, 0}, {2, 2}), targets({0, 0, 0, 0, 0, 0}, {2, 3});
    CHECK_THROWS_WITH_AS(copy_distribution(logits, gate, Var(), words, 0),
                         "copy_distribution: the model must have attention; given one without", Error);
    const auto error = [&](const Var& x, const Var& weights, const Ids& source, const Ids& wanted) {
      try {
        copy_nll(x, gate, weights, source, wanted);
      } catch (const Error& e) {
        return std::string(e.what());
      }
      return std::string();
    };
    const Var attention(Tensor::zeros({2, 3, 2}, DType::f32));
    CHECK(error(Var(Tensor::zeros({2, 5}, DType::f32)), attention, words, targets) ==
          "copy_nll: logits must be [B,T,V]; given [2, 5]");
    CHECK(error(logits, attention, Ids({0, 0}, {1, 2}), targets) == "copy_nll: words must be [2,S]; given [1, 2]");
    CHECK(error(logits, attention, words, Ids({0, 0}, {2, 1})) == "copy_nll: targets must be [2, 3]; given [2, 1]");
    CHECK(error(logits, Var(), words, targets) == "copy_nll: attention must be [2, 3, 2]; given nothing");
    ParameterStore store(DType::f32, 3);
    const PointerGenerator model(shape, Scope(store));
    core::Workers workers(1);
    CHECK_THROWS_WITH_AS(copy_greedy(model, {{{4, 3}, {}}}, workers),
                         "copy_greedy: a sentence must have a word for each of its 2 source tokens; given 0", Error);
  }

  TEST_CASE("the task of names: no name of one part is in the other, and both sides have the same names") {
    const Corpus seen = name_task(500, false, 3), unseen = name_task(500, true, 3);
    const auto names = [](const Corpus& corpus) {
      std::set<std::string> all;
      const Vocabulary frequent(sources(corpus), 5);
      for (const SentencePair& pair : corpus.pairs)
        for (const std::string& word : pair.source)
          if (frequent.ids({word})[0] == Vocabulary::unk) {
            all.insert(word);
            CHECK(std::count(pair.source.begin(), pair.source.end(), word) ==
                  std::count(pair.target.begin(), pair.target.end(), word));
          }
      return all;
    };
    const std::set<std::string> a = names(seen), b = names(unseen);
    CHECK(a.size() > 700);
    CHECK(b.size() > 700);
    for (const std::string& name : b) CHECK(a.count(name) == 0);
    const Corpus fewer = name_task(20, false, 3);
    for (std::size_t i = 0; i < fewer.size(); ++i) CHECK(fewer.pairs[i].source == seen.pairs[i].source);
    CHECK_THROWS_WITH_AS(name_task(0, false, 1), "--pairs: must lie in [1, 1000000]; given 0", UsageError);
  }
}
