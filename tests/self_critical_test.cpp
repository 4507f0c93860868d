#include "models/self_critical.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/random.h"
#include "models/run_data.h"
#include "tests/scripted_model.h"

using namespace tapestry;

namespace {

// All that can be said of at most three tokens: what ended, and what was cut.
std::vector<TokenIds> all_outputs(Index words) {
  std::vector<TokenIds> open{{}}, all;
  for (int length = 1; length <= 3; ++length) {
    std::vector<TokenIds> longer;
    for (const TokenIds& beginning : open)
      for (std::int32_t token = 0; token < words; ++token) {
        TokenIds output = beginning;
        output.push_back(token);
        (token == Vocabulary::eos || length == 3 ? all : longer).push_back(output);
      }
    open = longer;
  }
  return all;
}

std::vector<double> probabilities(const EncoderDecoder& model, const TokenIds& source,
                                  const std::vector<TokenIds>& outputs) {
  std::vector<double> p;
  for (const ForcedScore& score : forced_scores(model, source, outputs)) p.push_back(std::exp(score.log_probability));
  return p;
}

// Parameters of a run on a few pairs of the built-in corpus after some updates by reward.
struct RewardRun {
  RunData data;
  Run run;
  std::vector<Rewards> rewards;

  explicit RewardRun(int threads, Index updates = 3, std::size_t pairs = 40)
      : data(load_data(config())),
        run(config(), Vocabulary(sources(data.train), 1), Vocabulary(targets(data.train), 1)) {
    core::Workers workers(threads);
    SelfCritical step(run, workers, {0.01, 1, 2});
    for (Index update = 1; update <= updates; ++update)
      rewards.push_back(step(std::span(data.train.pairs).subspan(0, pairs), update));
  }
  static RunConfig config() {
    RunConfig config = preset("quickstart");
    config.pairs = 50;
    config.valid = config.test = 1;
    config.embed = config.hidden = 8;
    config.dropout = 0;
    return config;
  }
};

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("policy gradient: its mean over all outputs is the gradient of the expected reward") {
    const TokenIds source{4, 7, 5, 3};
    const std::vector<TokenIds> outputs = all_outputs(6);
    CHECK(outputs.size() == 1 + 5 + 25 * 6);
    RandomModel random("bahdanau", DType::f64, 2);
    core::Random numbers(11);
    std::vector<double> reward;
    for (std::size_t i = 0; i < outputs.size(); ++i) reward.push_back(numbers.uniform());
    const std::vector<double> p = probabilities(*random.model, source, outputs);
    double total = 0;
    for (const double each : p) total += each;
    CHECK(total == doctest::Approx(1).epsilon(1e-12));

    // Each output weighs its probability times what it is worth above the baseline: the estimator's expectation.
    const auto expected_gradient = [&](double baseline) {
      std::vector<Example> examples;
      for (std::size_t i = 0; i < outputs.size(); ++i)
        examples.push_back({source, outputs[i], {}, p[i] * (reward[i] - baseline)});
      auto gradients = random.store.gradients();
      Tape tape{gradients.by_parameter};
      tape.backward(policy_loss(*random.model, make_batch(all_rows(examples)), Pass{}).objective);
      return gradients;
    };
    const auto expected_reward = [&] {
      const std::vector<double> now = probabilities(*random.model, source, outputs);
      double sum = 0;
      for (std::size_t i = 0; i < outputs.size(); ++i) sum += now[i] * reward[i];
      return sum;
    };
    const auto plain = expected_gradient(0), baselined = expected_gradient(0.8);
    for (int direction = 0; direction < 4; ++direction) {
      std::vector<Tensor> moves;
      for (const Var& parameter : random.store.parameters()) {
        moves.push_back(Tensor::empty(parameter.shape(), DType::f64));
        for (Index i = 0; i < parameter.numel(); ++i) moves.back().set(i, numbers.normal());
      }
      const auto move = [&](double step) {
        for (std::size_t k = 0; k < moves.size(); ++k) {
          const Tensor value = random.store.parameters()[k].value();
          for (Index i = 0; i < value.numel(); ++i) value.set(i, value.at(i) + step * moves[k].at(i));
        }
      };
      const auto along = [&](const ParameterStore::Gradients& gradients) {
        double sum = 0;
        for (std::size_t k = 0; k < moves.size(); ++k)
          for (Index i = 0; i < moves[k].numel(); ++i) sum += moves[k].at(i) * gradients.by_parameter.slices[k].at(i);
        return sum;
      };
      constexpr double h = 1e-6;
      move(h);
      const double above = expected_reward();
      move(-2 * h);
      const double slope = (above - expected_reward()) / (2 * h);
      move(h);
      CHECK(std::abs(slope) > 1e-4);
      CHECK(-along(plain) == doctest::Approx(slope).epsilon(1e-6));
      CHECK(-along(baselined) == doctest::Approx(slope).epsilon(1e-6));
    }
  }

  TEST_CASE("policy gradient: fused and plain ops lose the same, and <pad> that was said counts") {
    const std::vector<Example> examples{{{4, 5, 3}, {4, Vocabulary::pad, 3}, {}, 0.5}, {{6, 3}, {5}, {}, -2}};
    const Batch batch = make_batch(all_rows(examples));
    ParameterStore store(DType::f64, 3), same(DType::f64, 3);
    const ModelShape shape = RandomModel::shape("bahdanau", 6);
    const auto fused = make_model(shape, Scope(store)), plain = make_model(shape, Scope(same, true));
    const SequenceLoss loss = policy_loss(*fused, batch, Pass{});
    CHECK(loss.objective.value().item() ==
          doctest::Approx(policy_loss(*plain, batch, Pass{}).objective.value().item()).epsilon(1e-12));
    const double first = forced_scores(*fused, examples[0].source, {examples[0].target})[0].log_probability;
    const double second = forced_scores(*fused, examples[1].source, {examples[1].target})[0].log_probability;
    CHECK(loss.objective.value().item() == doctest::Approx(-0.5 * first + 2 * second).epsilon(1e-12));
    CHECK(loss.nll == doctest::Approx(-first - second).epsilon(1e-12));
  }

  TEST_CASE("the reward is smoothed BLEU of a sentence") {
    // 2 of 3 words, 1 + 1 of 2 + 1 pairs, 0 + 1 of 1 + 1 triples, 0 + 1 of 0 + 1 quadruples.
    CHECK(sentence_reward({"a", "b", "c"}, {"a", "b", "d"}) ==
          doctest::Approx(100 * std::pow(2.0 / 3 * 2 / 3 * 1 / 2, 0.25)).epsilon(1e-12));
    CHECK(sentence_reward({"a", "b"}, {"a", "b"}) == doctest::Approx(100));
    CHECK(sentence_reward({}, {"a", "b"}) == 0);
    CHECK(sentence_reward({"<unk>"}, {"a", "b"}) == 0);
  }

  TEST_CASE("self-critical training depends on the seed, not on the threads") {
    const RewardRun one(1), two(2);
    for (std::size_t k = 0; k < one.run.store->parameters().size(); ++k)
      CHECK(one.run.store->parameters()[k].value().values() == two.run.store->parameters()[k].value().values());
    for (std::size_t update = 0; update < one.rewards.size(); ++update) {
      CHECK(one.rewards[update].sampled == two.rewards[update].sampled);
      CHECK(one.rewards[update].greedy == two.rewards[update].greedy);
    }
    CHECK(one.rewards[0].sampled != one.rewards[1].sampled);
  }

  TEST_CASE("self-critical training makes a sample likelier if it beats the greedy translation, else less likely") {
    const RewardRun before(1, 0, 1);
    const std::vector<TokenIds> sources{with_eos(before.data.train.pairs[0].source, before.run.source, 0)};
    core::Workers workers(1);
    DecodingOptions options;
    options.sampling = Sampling{1, 0, before.run.config.seed, std::uint64_t{1} << 32};
    const TokenIds sample = said(greedy(*before.run.model, sources, workers, options)[0]);
    const RewardRun after(1, 1, 1);
    const double advantage = after.rewards[0].sampled[0] - after.rewards[0].greedy[0];
    REQUIRE(advantage != 0);
    const auto log_probability = [&](const Run& run) {
      return forced_scores(*run.model, sources[0], {sample})[0].log_probability;
    };
    CHECK((log_probability(after.run) > log_probability(before.run)) == (advantage > 0));
  }

  TEST_CASE("self-critical training refuses a model that drops out") {
    RunConfig config = RewardRun::config();
    config.dropout = 0.1;
    const RunData data = load_data(config);
    Run run(config, Vocabulary(sources(data.train), 1), Vocabulary(targets(data.train), 1));
    core::Workers workers(1);
    CHECK_THROWS_WITH_AS(SelfCritical(run, workers, {}),
                         "self-critical training: nothing may be dropped out; given a dropout of 0.1", Error);
  }
}
