#pragma once
// The training of an experiment: a few passes through a text that is in memory.

#include "models/training_step.h"
#include "optim/schedule.h"

namespace tapestry {

struct FitEpochsOptions {
  Index epochs = 4;
  std::size_t batch = 32;
  double lr = 0.005;  // falls evenly to 0
  std::uint64_t seed = 1;
};

/// Adam on two shards, gradients clipped at norm 1; batches of similar length in an order drawn from the seed.
inline void fit_epochs(BatchLoss loss, const ParameterStore& store, core::Workers& workers,
                       const std::vector<Example>& examples, const FitEpochsOptions& options) {
  Adam adam(store.pieces());
  TrainingStep step(std::move(loss), store, adam, workers, {2, 0, 1});
  const auto batches = static_cast<Index>((examples.size() + options.batch - 1) / options.batch);
  const Schedule schedule{"linear", options.lr, options.epochs * batches};
  Index update = 0;
  for (Index epoch = 1; epoch <= options.epochs; ++epoch)
    for (const MicroBatch& rows : epoch_batches(examples, options.batch, true, options.seed, epoch)) {
      ++update;
      step(rows, Pass{true, options.seed, static_cast<std::uint64_t>(update), 0}, schedule.rate(update));
    }
}

}  // namespace tapestry
