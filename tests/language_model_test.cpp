// What must hold of the language model whatever its parameters are, and of the text that it reads.

#include "models/language_model.h"

#include <doctest/doctest.h>

#include <cmath>

#include "models/fit.h"
#include "models/text_units.h"

using namespace tapestry;

namespace {

constexpr Index width = 8, vocabulary = 11;

LanguageModelShape small(const std::string& positions = "sinusoidal", bool pre_norm = true, double dropout = 0) {
  return {
      vocabulary, {width, 6, 2, 2, pre_norm, pre_norm, true, true, dropout, dropout, dropout}, {positions, 7}, true};
}

struct Built {
  ParameterStore store;
  LanguageModel model;

  explicit Built(const LanguageModelShape& shape, DType dtype = DType::f64)
      : store(dtype, 3), model(shape, Scope(store)) {}
};

const Ids tokens({3, 7, 8, 5, 9, 4, 10, 10, 6, 7, 2, 5, 4, 4}, {2, 7});

// "abcabc..." as ids, so that the next one is always known.
TokenIds periodic(std::size_t length) {
  TokenIds text;
  for (std::size_t i = 0; i < length; ++i) text.push_back(static_cast<std::int32_t>(4 + i % 3));
  return text;
}

BatchLoss loss_of(const LanguageModel& model) {
  return [&model](const Batch& batch, const Pass& pass) { return language_model_loss(model, batch, pass); };
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("language model: a step from the cache is the last position of the whole pass, with all positions") {
    for (const std::string& kind : position_kinds())
      for (const bool pre_norm : {false, true}) {
        CAPTURE(kind);
        const Built built(small(kind, pre_norm));
        const Tensor whole = built.model(tokens, Pass{}).value();  // [2,7,D]
        EncoderStack::State state;
        for (Index t = 0; t < tokens.size(1); ++t) {
          const Tensor now = built.model.step(tokens.column(t), state).value();  // [2,D]
          for (Index b = 0; b < 2; ++b)
            for (Index d = 0; d < width; ++d)
              CHECK(std::abs(now.at(b * width + d) - whole.at((b * 7 + t) * width + d)) <= 1e-12);
        }
      }
  }

  TEST_CASE("language model: what follows changes nothing before it by a single bit, in training and evaluation") {
    for (const DType dtype : {DType::f32, DType::f64}) {
      const Built built(small("sinusoidal", false, 0.3), dtype);
      for (const bool training : {false, true}) {
        const Pass pass{training, 5, 2, 1};
        const Tensor before = built.model(tokens, pass).value();
        std::vector<std::int32_t> values(tokens.values().begin(), tokens.values().end());
        for (Index t = 6; t > 0; --t) {
          values[static_cast<std::size_t>(t)] = (values[static_cast<std::size_t>(t)] + 5) % vocabulary;
          const Tensor after = built.model(Ids(std::vector(values), tokens.shape()), pass).value();
          for (Index i = 0; i < t * width; ++i) CHECK(after.at(i) == before.at(i));
          CHECK(after.at(t * width) != before.at(t * width));
        }
      }
    }
  }

  TEST_CASE("language model: tied, the output layer is the table of embeddings; learned positions end") {
    const Built tied(small("learned"));
    CHECK(tied.store.aliases() == std::map<std::string, std::string>{{"out.weight", "embed.weight"}});
    CHECK(tied.store["embed.positions.weight"].shape() == Shape{7, width});
    CHECK(tied.model.most_positions() == 7);
    CHECK_THROWS_WITH_AS(tied.model(Ids(std::vector<std::int32_t>(8, 4), {1, 8}), Pass{}),
                         "positions: there must be a row of the learned table for each; given 7 rows and 8 positions",
                         Error);
  }

  TEST_CASE("language model: windows hold each token and what follows it") {
    const TokenIds text{3, 4, 5, 6, 7, 8, 9};
    const std::vector<Example> all = all_windows(text, 4);
    REQUIRE(all.size() == 2);
    CHECK(all[0].source == TokenIds{3, 4, 5, 6});
    CHECK(all[0].target == TokenIds{4, 5, 6, 7});
    CHECK(all[1].source == TokenIds{7, 8});
    CHECK(all[1].target == TokenIds{8, 9});
    CHECK(all_windows(text, 6).size() == 1);
    std::vector<int> begins(7);
    for (const Example& window : random_windows(text, 4, 300, 1, 2)) {
      CHECK(window.source.size() == 4);
      CHECK(window.target[3] == window.source[3] + 1);
      ++begins[static_cast<std::size_t>(window.source[0] - 3)];
    }
    for (std::size_t begin = 0; begin < 3; ++begin) CHECK(begins[begin] > 60);
    CHECK(begins[3] == 0);
    CHECK(random_windows(text, 4, 9, 1, 2)[8].source == random_windows(text, 4, 300, 1, 2)[8].source);
    CHECK_THROWS_WITH_AS(random_windows(text, 7, 1, 1, 1),
                         "language_model: the text must be longer than a window of 7 tokens; it has 7", Error);
  }

  TEST_CASE("language model: it learns what comes next, to the same bits on any number of threads") {
    const TokenIds text = periodic(100);
    std::vector<std::vector<double>> of_threads;
    for (const int threads : {1, 2, 3}) {
      const Built built(small("sinusoidal", true, 0.1), DType::f32);
      core::Workers workers(threads);
      std::vector<double>& losses = of_threads.emplace_back();
      fit(
          loss_of(built.model), built.store, workers, {60, 0.02, 1},
          [&](Index update) { return random_windows(text, 6, 8, 1, update); },
          [&](Index, const UpdateResult& result) {
            losses.push_back(result.nll / static_cast<double>(result.tokens));
          });
      CHECK(losses.size() == 60);
      CHECK(losses.back() < 0.5);  // the first token of a window alone tells the rest
      // Most probable tokens go on with the period, also where the context is full and begins anew.
      const TokenIds wanted = periodic(22);
      CHECK(continue_text(built.model, {4, 5}, 20, 6, {1, 1, 1, 0}) == TokenIds(wanted.begin() + 2, wanted.end()));
    }
    CHECK(of_threads[0] == of_threads[1]);
    CHECK(of_threads[0] == of_threads[2]);
  }

  TEST_CASE("language model: draws depend on the seed alone, and a prompt is needed") {
    const Built built(small());
    const auto drawn = [&](std::uint64_t seed) { return continue_text(built.model, {3}, 30, 8, {1, 0, seed, 0}); };
    CHECK(drawn(1) == drawn(1));
    CHECK(drawn(1) != drawn(2));
    const TokenIds long_prompt(20, 5);
    CHECK(continue_text(built.model, long_prompt, 3, 8, {}).size() == 3);
    CHECK(continue_text(built.model, {3}, 0, 8, {}).empty());
    CHECK(continue_text(built.model, {3}, 5, 1, {}).size() == 5);
    CHECK_THROWS_WITH_AS(continue_text(built.model, {}, 3, 8, {}),
                         "language_model: a text to go on with must have a token; given none", Error);
  }

  TEST_CASE("text units: characters and words of lines, spelt again") {
    CHECK(text_units("Ça va ?", "char") == Tokens{"Ç", "a", "▁", "v", "a", "▁", "?"});
    CHECK(text_units("Ça va ?", "word") == Tokens{"ça", "va", "?"});
    for (const std::string unit : {"char", "word"}) {
      const std::vector<std::string> lines{"ab c", "", "c ab", "ab ab", "c x c"};
      const UnitText text = unit_text(lines, unit, 0.3);
      TokenIds all = text.train;
      all.insert(all.end(), text.held_out.begin(), text.held_out.end());
      // x is in the held-out part alone.
      CHECK(spell(all, text.vocabulary, unit) == "ab c\n\nc ab\nab ab\nc <unk> c\n");
      CHECK(text.held_out.back() == Vocabulary::eos);
    }
    CHECK_THROWS_WITH_AS(text_units("a", "byte"), "--unit: must be one of char, word; given byte", UsageError);
    CHECK_THROWS_WITH_AS(text_units("a\xff", "char"), "tokenize: text must be UTF-8; byte 2 is 0xff", Error);
    CHECK_THROWS_WITH_AS(unit_text({"ab"}, "char"),
                         "language_model: the text must have at least 4 chars, ends of lines counted; given 3", Error);
  }

  TEST_CASE("text units: the loss by frequency alone") {
    // Training: a a b and <eos>, and one more of each of the 6 in the vocabulary. Held out: b, <eos>; its first is
    // given.
    const UnitText text = unit_text({"aab", "b"}, "char", 0.3);
    CHECK(text.train.size() == 4);
    CHECK(text.vocabulary.size() == 6);
    CHECK(unigram_loss(text) == doctest::Approx(-std::log(2.0 / 10)).epsilon(1e-12));
  }
}
