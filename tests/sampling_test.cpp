#include <doctest/doctest.h>

#include <map>

#include "models/greedy.h"
#include "tests/scripted_model.h"

using namespace tapestry;

namespace {

constexpr std::int32_t bos = Vocabulary::bos, eos = Vocabulary::eos, a = 4, b = 5;

// sum over classes of (count - n p)^2 / (n p): about as large as the classes are many, if the p are right.
template <class Key>
double chi_square(const std::map<Key, int>& counts, const std::map<Key, double>& p, int n) {
  double sum = 0;
  int known = 0;
  for (const auto& [key, probability] : p) {
    const auto found = counts.find(key);
    const int count = found == counts.end() ? 0 : found->second;
    const double expected = n * probability;
    sum += (count - expected) * (count - expected) / expected;
    known += count;
  }
  CHECK(known == n);  // nothing else was drawn
  return sum;
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("sampling: tokens come as often as temperature and top-k say") {
    const std::vector<double> x{0.3, -1, 2, 1.2, 0.3};
    const Tensor logits = Tensor::from(x, {1, 5}, DType::f64);
    constexpr int n = 10000;
    for (const double temperature : {0.5, 1.0, 3.0})
      for (const Index top_k : {0, 1, 3}) {
        // Of the two tokens with logit 0.3 the first is among the three most probable.
        const std::vector<std::int32_t> allowed =
            top_k == 0 ? TokenIds{0, 1, 2, 3, 4} : (top_k == 1 ? TokenIds{2} : TokenIds{0, 2, 3});
        std::map<std::int32_t, double> p;
        double total = 0;
        for (const std::int32_t v : allowed) total += p[v] = std::exp(x[static_cast<std::size_t>(v)] / temperature);
        for (auto& entry : p) entry.second /= total;
        std::map<std::int32_t, int> counts;
        for (int i = 0; i < n; ++i)
          ++counts[draw(logits, 0, {temperature, top_k, 7, 0}, static_cast<std::uint64_t>(i), 2)];
        // With 4 degrees of freedom 18.5 is exceeded once in a thousand seeds.
        CHECK(chi_square(counts, p, n) < 18.5);
      }
  }

  TEST_CASE("sampling: the smallest temperature draws the most probable token") {
    const Tensor logits = Tensor::from({0.3, -1, 2, 1.2, 0.3}, {1, 5}, DType::f64);
    for (const Index top_k : {0, 3})
      for (std::uint64_t i = 0; i < 20; ++i) CHECK(draw(logits, 0, {2.3e-308, top_k, 7, 0}, i, 2) == 2);
  }

  TEST_CASE("sampling: whole translations come with their probability") {
    const ScriptedModel model(
        {{bos, {{a, 0.6}, {b, 0.4}}}, {a, {{a, 0.5}, {b, 0.1}, {eos, 0.4}}}, {b, {{a, 0.2}, {b, 0.1}, {eos, 0.7}}}});
    constexpr int n = 4000;
    DecodingOptions options;
    options.sampling = Sampling{};
    options.limit = 2;
    core::Workers workers(2);
    std::map<TokenIds, int> counts;
    for (const Translation& translation : greedy(model, std::vector<TokenIds>(n, {4, 3}), workers, options))
      ++counts[said(translation)];
    const std::map<TokenIds, double> p{{{a, a}, 0.30}, {{a, b}, 0.06}, {{a, eos}, 0.24},
                                       {{b, a}, 0.08}, {{b, b}, 0.04}, {{b, eos}, 0.28}};
    CHECK(chi_square(counts, p, n) < 20.5);  // 5 degrees of freedom, once in a thousand seeds
  }

  TEST_CASE("sampling: a draw is a function of seed, sentence and position") {
    const RandomModel random("bahdanau", DType::f64, 3, 11, 1);
    DecodingOptions options;
    options.sampling = Sampling{};
    options.sampling->seed = 5;
    core::Workers one(1), two(2);
    std::vector<TokenIds> sources = some_sources;
    sources.insert(sources.end(), some_sources.begin(), some_sources.end());
    const auto together = greedy(*random.model, sources, one, options);
    options.batch = 3;
    const auto apart = greedy(*random.model, sources, two, options);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      CHECK(together[i].ids == apart[i].ids);
      options.sampling->first_sentence = i;
      CHECK(greedy(*random.model, {sources[i]}, one, options)[0].ids == together[i].ids);
    }
    std::size_t differ = 0;
    for (std::size_t i = 0; i < some_sources.size(); ++i)
      if (together[i].ids != together[i + some_sources.size()].ids) ++differ;
    CHECK(differ > 0);
    options.sampling = Sampling{};
    CHECK(greedy(*random.model, sources, one, options)[0].ids != together[0].ids);
    // Scores are of the model's own probabilities, not of the ones drawn from.
    options.sampling->temperature = 0.5;
    const Translation cold = greedy(*random.model, {sources[0]}, one, options)[0];
    CHECK(cold.log_probability ==
          doctest::Approx(forced_scores(*random.model, sources[0], {said(cold)})[0].log_probability).epsilon(1e-10));
  }
}
