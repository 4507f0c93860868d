#include "models/beam_search.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "models/greedy.h"
#include "models/uncached.h"
#include "tests/scripted_model.h"

using namespace tapestry;

namespace {

constexpr std::int32_t bos = Vocabulary::bos, eos = Vocabulary::eos, a = 4, b = 5;

// Every token sequence of at most `limit` tokens that ends with <eos>, and by it alone.
std::vector<TokenIds> all_sequences(Index words, Index limit) {
  std::vector<TokenIds> ended, open{{}};
  for (Index length = 1; length <= limit; ++length) {
    std::vector<TokenIds> longer;
    for (const TokenIds& sequence : open)
      for (std::int32_t token = 0; token < words; ++token) {
        TokenIds next = sequence;
        next.push_back(token);
        (token == eos ? ended : longer).push_back(next);
      }
    open = std::move(longer);
  }
  return ended;
}

struct Scored {
  double score, log_probability;
  TokenIds tokens;
};

// All of them, best first.
std::vector<Scored> ranking(const EncoderDecoder& model, const TokenIds& source, Index words, Index limit, double a_) {
  const std::vector<TokenIds> sequences = all_sequences(words, limit);
  const std::vector<ForcedScore> scores = forced_scores(model, source, sequences);
  std::vector<Scored> ranked;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const double log_p = scores[i].log_probability;
    ranked.push_back({log_p / std::pow(static_cast<double>(sequences[i].size()), a_), log_p, sequences[i]});
  }
  std::sort(ranked.begin(), ranked.end(), [](const Scored& x, const Scored& y) { return x.score > y.score; });
  return ranked;
}

bool near(double x, double y, double tolerance) {
  return std::abs(x - y) <= tolerance * std::abs(y);
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("no translation is longer than twice its source and ten, however generous the limit") {
    DecodingOptions options;
    CHECK(step_limit({7, 8, 3}, options) == 16);
    options.limit = 2000;
    CHECK(step_limit({7, 8, 3}, options) == 16);
    options.limit = 5;
    CHECK(step_limit({7, 8, 3}, options) == 5);
  }

  TEST_CASE("beam search: a beam that holds everything finds the best of all sequences; a small one nothing better") {
    constexpr Index words = 6, limit = 4;
    core::Workers workers(2);
    for (const std::string& name : model_names())
      for (const double penalty : {0.0, 0.7, 1.0, 2.0}) {
        const RandomModel random(name, DType::f64, 5, words);
        DecodingOptions options;
        options.length_penalty = penalty;
        options.limit = limit;
        options.beam = words * words * words * words;
        options.best = 3;
        const auto widest = beam_search(*random.model, some_sources, workers, options);
        for (std::size_t i = 0; i < some_sources.size(); ++i) {
          const std::vector<Scored> all = ranking(*random.model, some_sources[i], words, limit, penalty);
          REQUIRE(widest[i].size() == 3);
          for (std::size_t rank = 0; rank < 3; ++rank) {
            CHECK(said(widest[i][rank]) == all[rank].tokens);
            CHECK(near(widest[i][rank].log_probability, all[rank].log_probability, 1e-10));
            CHECK(near(widest[i][rank].score, all[rank].score, 1e-10));
          }
          options.best = 1;
          for (options.beam = 1; options.beam <= 4; ++options.beam) {
            const Translation narrow = beam_search(*random.model, {some_sources[i]}, workers, options)[0][0];
            if (narrow.ended) CHECK(narrow.score <= all[0].score + 1e-12);
          }
        }
      }
  }

  TEST_CASE("beam search: scores are the teacher-forced ones, attention is that along the hypothesis") {
    core::Workers workers(1);
    for (const DType dtype : {DType::f64, DType::f32})
      for (const std::string& name : model_variants()) {
        const RandomModel random(name, dtype, 2, 9, 2);
        DecodingOptions options;
        options.beam = options.best = 4;
        options.attention = true;
        options.limit = 7;
        const double tolerance = dtype == DType::f64 ? 1e-10 : 1e-5;
        const auto lists = beam_search(*random.model, some_sources, workers, options);
        for (std::size_t i = 0; i < some_sources.size(); ++i) {
          for (const Translation& found : lists[i]) {
            const ForcedScore forced = forced_scores(*random.model, some_sources[i], {said(found)})[0];
            CHECK(near(found.log_probability, forced.log_probability, tolerance));
            CHECK(near(found.score, forced.log_probability / static_cast<double>(said(found).size()), tolerance));
            REQUIRE(static_cast<bool>(found.attention) == static_cast<bool>(forced.attention));
            if (!found.attention) continue;
            REQUIRE(found.attention.shape() == forced.attention.shape());
            for (Index at = 0; at < found.attention.numel(); ++at)
              CHECK(std::abs(found.attention.at(at) - forced.attention.at(at)) <= tolerance);
          }
          for (std::size_t rank = 1; rank < lists[i].size(); ++rank)
            CHECK(lists[i][rank - 1].score >= lists[i][rank].score);
        }
      }
  }

  TEST_CASE("beam search: with one hypothesis it is greedy decoding") {
    core::Workers workers(1);
    for (const std::string& name : model_variants())
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const RandomModel random(name, DType::f64, seed, 11);
        DecodingOptions options;
        options.attention = true;
        const auto lists = beam_search(*random.model, some_sources, workers, options);
        const auto greedily = greedy(*random.model, some_sources, workers, options);
        for (std::size_t i = 0; i < some_sources.size(); ++i) {
          CHECK(lists[i][0].ids == greedily[i].ids);
          CHECK(lists[i][0].ended == greedily[i].ended);
          CHECK(near(lists[i][0].log_probability, greedily[i].log_probability, 1e-12));
          CHECK(near(lists[i][0].score, greedily[i].score, 1e-12));
          CHECK(lists[i][0].attention.shape() == greedily[i].attention.shape());
        }
      }
  }

  TEST_CASE("decoding with a carried state and reading all again say the same") {
    core::Workers workers(1);
    for (const DType dtype : {DType::f64, DType::f32})
      for (const std::string& name : model_variants())
        for (const Index beam : {1, 4}) {
          const RandomModel random(name, dtype, 4, 9);
          DecodingOptions options;
          options.beam = options.best = beam;
          const auto cached = decode(*random.model, some_sources, workers, options);
          const auto uncached = decode(Uncached(*random.model), some_sources, workers, options);
          for (std::size_t i = 0; i < some_sources.size(); ++i) {
            REQUIRE(cached[i].size() == uncached[i].size());
            for (std::size_t rank = 0; rank < cached[i].size(); ++rank) {
              CHECK(cached[i][rank].ids == uncached[i][rank].ids);
              CHECK(near(cached[i][rank].score, uncached[i][rank].score, dtype == DType::f64 ? 1e-10 : 1e-5));
            }
          }
        }
  }

  TEST_CASE("beam search: neither the batch nor the threads matter, and the order is kept") {
    core::Workers one(1), two(2);
    for (const std::string& name : model_variants()) {
      const RandomModel random(name, DType::f64, 3, 9);
      DecodingOptions options;
      options.beam = options.best = 3;
      std::vector<TokenIds> sources = some_sources;
      sources.insert(sources.begin() + 2, TokenIds());
      const auto all = beam_search(*random.model, sources, one, options);
      options.batch = 1;
      const auto apart = beam_search(*random.model, sources, two, options);
      for (std::size_t i = 0; i < sources.size(); ++i) {
        REQUIRE(all[i].size() == apart[i].size());
        for (std::size_t rank = 0; rank < all[i].size(); ++rank) CHECK(all[i][rank].ids == apart[i][rank].ids);
      }
      REQUIRE(all[2].size() == 1);
      CHECK(all[2][0].ids.empty());
    }
  }

  // The example of models/README.md.
  TEST_CASE("beam search: a second choice can win, and the search ends when none can any more") {
    const ScriptedModel model(
        {{bos, {{a, 0.6}, {b, 0.4}}}, {a, {{a, 0.5}, {b, 0.1}, {eos, 0.4}}}, {b, {{a, 0.05}, {b, 0.05}, {eos, 0.9}}}});
    core::Workers workers(1);
    DecodingOptions options;
    options.limit = 4;
    const Translation greedily = greedy(model, {{4, 3}}, workers, options)[0];
    CHECK(greedily.ids == TokenIds{a, a, a, a});
    CHECK_FALSE(greedily.ended);
    CHECK(greedily.log_probability == doctest::Approx(std::log(0.6 * 0.5 * 0.5 * 0.5)));

    options.beam = 2;
    model.steps = 0;
    const Translation ranked = beam_search(model, {{4, 3}}, workers, options)[0][0];
    CHECK(ranked.ids == TokenIds{b});
    CHECK(ranked.ended);
    CHECK(ranked.log_probability == doctest::Approx(std::log(0.36)));
    CHECK(ranked.score == doctest::Approx(std::log(0.36) / 2));
    CHECK(model.steps == 4);

    options.length_penalty = 0;
    model.steps = 0;
    CHECK(beam_search(model, {{4, 3}}, workers, options)[0][0].score == doctest::Approx(std::log(0.36)));
    CHECK(model.steps == 2);

    // Only what ended is ranked, as long as anything did: a a a a has the better mean than a a a <eos>.
    options.length_penalty = 1;
    options.best = 2;
    const auto list = beam_search(model, {{4, 3}}, workers, options)[0];
    REQUIRE(list.size() == 2);
    CHECK(list[1].ids == TokenIds{a, a, a});
    CHECK(list[1].score == doctest::Approx(std::log(0.6 * 0.5 * 0.5 * 0.4) / 4));
  }

  TEST_CASE("beam search: what reached the limit is given only where nothing ended") {
    const ScriptedModel model({{bos, {{a, 0.7}, {b, 0.3}}}, {a, {{a, 1}}}, {b, {{b, 1}}}});
    core::Workers workers(1);
    DecodingOptions options;
    options.beam = options.best = 2;
    options.limit = 3;
    const auto list = beam_search(model, {{4, 3}}, workers, options)[0];
    REQUIRE(list.size() == 2);
    CHECK(list[0].ids == TokenIds{a, a, a});
    CHECK(list[1].ids == TokenIds{b, b, b});
    CHECK_FALSE(list[0].ended);
    CHECK(list[0].score == doctest::Approx(std::log(0.7) / 3));
  }

  TEST_CASE("decoding: options and logits that cannot be") {
    const ScriptedModel model({{bos, {{a, std::nan("")}}}});
    core::Workers workers(1);
    DecodingOptions options;
    const auto decode_one = [&] { decode(model, {{4, 3}}, workers, options); };
    for (options.beam = 1; options.beam <= 2; ++options.beam)
      CHECK_THROWS_WITH_AS(decode_one(), "decoding: logits must be finite; their log-sum-exp is nan", Error);
    options.beam = 0;
    CHECK_THROWS_WITH_AS(decode_one(), "--beam: must lie in [1, 65536]; given 0", UsageError);
    options.beam = 2;
    options.best = 3;
    CHECK_THROWS_WITH_AS(decode_one(), "--n-best: must lie in [1, --beam]; given 3", UsageError);
    options.best = 1;
    options.length_penalty = -1;
    CHECK_THROWS_WITH_AS(decode_one(), "--length-penalty: must be at least 0; given -1", UsageError);
    options.length_penalty = 1;
    options.sampling = Sampling{};
    CHECK_THROWS_WITH_AS(decode_one(), "--sample: draws one translation and goes with no beam; given 2", UsageError);
    options.beam = 1;
    options.sampling->temperature = 0;
    CHECK_THROWS_WITH_AS(decode_one(), "--temperature: must be above 0; given 0", UsageError);
    options.sampling->temperature = 1;
    options.sampling->top_k = -1;
    CHECK_THROWS_WITH_AS(decode_one(), "--top-k: must be at least 0; given -1", UsageError);
  }
}
