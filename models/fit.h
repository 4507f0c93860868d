#pragma once
// Training in memory, without a run directory: that of the course's experiments.

#include "core/random.h"
#include "models/training_step.h"
#include "optim/schedule.h"

namespace tapestry {

/// All of a training but the loss and the text.
struct Recipe {
  Index updates = 0;
  Schedule schedule;
  std::uint64_t seed = 1;
  AdamOptions adam = {};
  TrainingStepOptions step = {2, 0, 1};  // two shards, gradients clipped at norm 1
};

/// batches(epoch) gives the micro-batches of epoch 1, 2, ..., an update each, whose examples must live until the next
/// epoch is asked for; told(update, result) hears what became of them.
void fit(BatchLoss loss, const ParameterStore& store, core::Workers& workers, const Recipe& recipe,
         const std::function<std::vector<MicroBatch>(Index epoch)>& batches,
         const std::function<void(Index update, const UpdateResult& result)>& told = {});

struct FitOptions {
  Index updates = 500;
  double lr = 0.003;  // falls evenly to 0
  std::uint64_t seed = 1;
};
/// Errors (UsageError): `--updates: ...`, `--lr: ...` out of range.
void validate(const FitOptions& options);

/// The same on examples that are drawn for each update.
void fit(BatchLoss loss, const ParameterStore& store, core::Workers& workers, const FitOptions& options,
         const std::function<std::vector<Example>(Index update)>& drawn,
         const std::function<void(Index update, const UpdateResult& result)>& told = {});

/// So many of the examples, any of them as often as it comes.
std::vector<Example> sample_examples(const std::vector<Example>& examples, Index count, core::Random random);

struct FitEpochsOptions {
  Index epochs = 4;
  std::size_t batch = 32;
  double lr = 0.005;  // falls evenly to 0
  std::uint64_t seed = 1;
};
/// The same on batches of similar length, in an order drawn from the seed.
void fit_epochs(BatchLoss loss, const ParameterStore& store, core::Workers& workers,
                const std::vector<Example>& examples, const FitEpochsOptions& options);

}  // namespace tapestry
