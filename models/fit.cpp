#include "models/fit.h"

#include <cmath>

namespace tapestry {

void fit(BatchLoss loss, const ParameterStore& store, core::Workers& workers, const Recipe& recipe,
         const std::function<std::vector<MicroBatch>(Index epoch)>& batches,
         const std::function<void(Index update, const UpdateResult& result)>& told) {
  Adam adam(store.pieces(), recipe.adam);
  TrainingStep step(std::move(loss), store, adam, workers, recipe.step);
  Index update = 0;
  for (Index epoch = 1; update < recipe.updates; ++epoch) {
    for (const MicroBatch& rows : batches(epoch)) {
      if (update == recipe.updates) break;
      ++update;
      const Pass pass{true, recipe.seed, static_cast<std::uint64_t>(update), 0};
      const UpdateResult result = step(rows, pass, recipe.schedule.rate(update));
      if (told) told(update, result);
    }
  }
}

void validate(const FitOptions& options) {
  require_within("--updates", options.updates, 1, 1'000'000);
  if (!(options.lr > 0 && std::isfinite(options.lr)))
    throw UsageError(fmt::format("--lr: must be above 0; given {}", options.lr));
}

void fit(BatchLoss loss, const ParameterStore& store, core::Workers& workers, const FitOptions& options,
         const std::function<std::vector<Example>(Index update)>& drawn,
         const std::function<void(Index update, const UpdateResult& result)>& told) {
  validate(options);
  std::vector<Example> examples;
  const auto batches = [&](Index update) {
    examples = drawn(update);
    return std::vector<MicroBatch>{all_rows(examples)};
  };
  fit(std::move(loss), store, workers, Recipe{options.updates, {"linear", options.lr, options.updates}, options.seed},
      batches, told);
}

std::vector<Example> sample_examples(const std::vector<Example>& examples, Index count, core::Random random) {
  std::vector<Example> drawn;
  for (Index i = 0; i < count; ++i)
    drawn.push_back(examples[static_cast<std::size_t>(random.below(static_cast<Index>(examples.size())))]);
  return drawn;
}

void fit_epochs(BatchLoss loss, const ParameterStore& store, core::Workers& workers,
                const std::vector<Example>& examples, const FitEpochsOptions& options) {
  const auto batches = static_cast<Index>((examples.size() + options.batch - 1) / options.batch);
  const Index updates = options.epochs * batches;
  fit(std::move(loss), store, workers, Recipe{updates, {"linear", options.lr, updates}, options.seed},
      [&](Index epoch) { return epoch_batches(examples, options.batch, true, options.seed, epoch); });
}

}  // namespace tapestry
