#pragma once
// Training on the score itself: translations are sampled, and those that score better than the greedy one made
// likelier.

#include "models/bleu.h"
#include "models/greedy.h"
#include "models/run.h"
#include "models/training_step.h"

namespace tapestry {

/// The loss of sampled translations: the sum over sentences of weight · -log p(target | source). With the weight
/// r(y) - b, of a reward and a baseline that does not depend on y, its gradient is in the mean over samples y that of
/// minus the expected reward (Williams 1992, "REINFORCE"):
///
///   d/dθ E r = Σ_y r(y) d p(y) = E[r(y) d log p(y)] = E[(r(y) - b) d log p(y)],   because Σ_y d p(y) = d 1 = 0
///
/// Whatever was sampled counts, <pad> too: padding is told by its place. A target that was cut at the limit has no
/// <eos>, and its probability is that of having said so much.
SequenceLoss policy_loss(const EncoderDecoder& model, const Batch& batch, const Pass& pass);

/// BLEU-4 of one sentence, 0 to 100. From the second order on, 1 is added to matches and total (Lin and Och 2004,
/// "ORANGE"): without, most sentences would score 0.
double sentence_reward(const Tokens& translation, const Tokens& reference);

struct SelfCriticalOptions {
  double lr = 0.0002;
  double clip = 1;
  std::size_t shards = 2;
};

/// The rewards of an update, of each sentence.
struct Rewards {
  std::vector<double> sampled, greedy;
};

/// Self-critical sequence training (Rennie et al. 2017): the baseline of a sampled translation is the reward of the
/// greedy one, so that what beats the model's own way of translating is pushed up, and what does not down. (Training on
/// BLEU by samples is Ranzato et al.'s, 2016.) The result depends on the run and the options, not on the threads.
class SelfCritical {
 public:
  /// The run's model is trained; it must not drop out. Everything but options must outlive this.
  SelfCritical(Run& run, core::Workers& workers, const SelfCriticalOptions& options);

  /// Update number `update`, from 1, on these pairs: at least one.
  Rewards operator()(std::span<const SentencePair> pairs, Index update);

 private:
  const Run& run_;
  core::Workers& workers_;
  SelfCriticalOptions options_;
  Adam adam_;
};

}  // namespace tapestry
