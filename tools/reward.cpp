#include "tools/reward.h"

#include <algorithm>

#include "core/random.h"
#include "models/fit.h"
#include "models/run_data.h"
#include "models/self_critical.h"
#include "models/sequence_loss.h"

namespace tapestry {
namespace {

constexpr Index block_updates = 25, test_pairs = 500;

void check(const RewardOptions& options) {
  require_within("--pairs", options.pairs, 1, 500'000);
  require_within("--epochs", options.epochs, 1, 1000);
  require_within("--updates", options.updates, 1, 100'000);
  require_within("--batch", options.batch, 1, 4096);
  require_within("--lr", options.lr, 0, 1);
}

RunConfig config_of(const RewardOptions& options) {
  RunConfig config = preset("quickstart");
  config.pairs = options.pairs;
  config.valid = 1;
  config.test = test_pairs;
  config.dropout = 0;
  config.seed = options.seed;
  return config;
}

double mean(const std::vector<double>& x) {
  double sum = 0;
  for (const double value : x) sum += value;
  return sum / static_cast<double>(x.size());
}

double variance(const std::vector<double>& x) {
  std::vector<double> squares;
  const double centre = mean(x);
  for (const double value : x) squares.push_back((value - centre) * (value - centre));
  return mean(squares);
}

RewardBlock summary(Index first, Index last, const Rewards& all) {
  std::vector<double> advantages;
  for (std::size_t i = 0; i < all.sampled.size(); ++i) advantages.push_back(all.sampled[i] - all.greedy[i]);
  return {first, last, mean(all.sampled), mean(all.greedy), variance(all.sampled), variance(advantages)};
}

std::vector<RewardBlock> train_by_reward(Run& run, const Corpus& corpus, const RewardOptions& options,
                                         core::Workers& workers) {
  constexpr std::uint64_t stream = 0x4e3a2d;  // apart from those of parameters, orders and samples
  core::Random random(options.seed, stream);
  SelfCritical step(run, workers, {options.lr});
  std::vector<RewardBlock> blocks;
  Rewards block;
  Index first = 1;
  for (Index update = 1; update <= options.updates; ++update) {
    std::vector<SentencePair> pairs;
    for (Index i = 0; i < options.batch; ++i)
      pairs.push_back(corpus.pairs[static_cast<std::size_t>(random.below(static_cast<Index>(corpus.size())))]);
    const Rewards rewards = step(pairs, update);
    block.sampled.insert(block.sampled.end(), rewards.sampled.begin(), rewards.sampled.end());
    block.greedy.insert(block.greedy.end(), rewards.greedy.begin(), rewards.greedy.end());
    if (update % block_updates != 0 && update != options.updates) continue;
    blocks.push_back(summary(first, update, block));
    block = {};
    first = update + 1;
  }
  return blocks;
}

}  // namespace

RewardExperiment reward_experiment(const RewardOptions& options, core::Workers& workers) {
  check(options);
  const RunConfig config = config_of(options);
  const RunData data = load_data(config);
  const auto [source, target] = vocabularies(config, data);
  Run run(config, source, target);
  fit_epochs([&](const Batch& batch, const Pass& pass) { return sequence_loss(*run.model, batch, pass); }, *run.store,
             workers, examples(data.train, source, target, config.length),
             {options.epochs, static_cast<std::size_t>(config.batch), config.lr, options.seed});
  EvaluationOptions by_chance;
  by_chance.decoding.sampling = Sampling{1, 0, options.seed, 0};
  const std::vector<Example> test = examples(data.test, source, target, config.length);
  RewardExperiment result;
  result.greedy.before = score_translations(run, data.test, workers);
  result.sampled.before = score_translations(run, data.test, workers, by_chance);
  result.loss_before = mean_loss(*run.model, test, workers);
  result.blocks = train_by_reward(run, data.train, options, workers);
  result.greedy.after = score_translations(run, data.test, workers);
  result.sampled.after = score_translations(run, data.test, workers, by_chance);
  result.loss_after = mean_loss(*run.model, test, workers);
  for (RewardGain* gain : {&result.greedy, &result.sampled})
    gain->judged = paired_bootstrap(gain->after.stats, gain->before.stats);
  return result;
}

}  // namespace tapestry
