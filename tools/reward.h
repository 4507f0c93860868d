#pragma once
// BLEU as the reward of a model that cross-entropy trained: what `tapestry lab reward` shows.

#include "models/bootstrap.h"
#include "models/evaluate.h"

namespace tapestry {

struct RewardOptions {
  Index pairs = 10000, epochs = 3;  // of cross-entropy: few, so that there is something left to learn
  Index updates = 400, batch = 64;
  double lr = 0.0002;
  std::uint64_t seed = 1;
};

/// Some updates together.
struct RewardBlock {
  Index first = 0, last = 0;                           // updates
  double sampled = 0, greedy = 0;                      // mean rewards, sentence BLEU, 0 to 100
  double reward_variance = 0, advantage_variance = 0;  // of the sampled rewards, without and with the baseline
};

/// Translations of the test part before and after the updates by reward.
struct RewardGain {
  Evaluation before, after;
  BootstrapResult judged;  // after against before
};

struct RewardExperiment {
  std::vector<RewardBlock> blocks;
  RewardGain greedy;                       // what one wants of a model
  RewardGain sampled;                      // what was trained; before and after by the same random numbers
  double loss_before = 0, loss_after = 0;  // of the test part, in nats per token
};

/// Trains the preset quickstart, without dropout, on pairs of the built-in corpus, then by self-critical updates on
/// batches of the same pairs. Errors (UsageError): an option out of range.
RewardExperiment reward_experiment(const RewardOptions& options, core::Workers& workers);

}  // namespace tapestry
