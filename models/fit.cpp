#include "models/fit.h"

#include <cmath>

#include "optim/schedule.h"

namespace tapestry {

void validate(const FitOptions& options) {
  if (options.updates < 1 || options.updates > 1'000'000)
    throw UsageError(fmt::format("--updates: must lie in [1, 1000000]; given {}", options.updates));
  if (!(options.lr > 0 && std::isfinite(options.lr)))
    throw UsageError(fmt::format("--lr: must be above 0; given {}", options.lr));
}

void fit(BatchLoss loss, const ParameterStore& store, core::Workers& workers, const FitOptions& options,
         const std::function<std::vector<Example>(Index update)>& drawn,
         const std::function<void(Index update, const UpdateResult& result)>& told) {
  validate(options);
  Adam adam(store.pieces());
  TrainingStep step(std::move(loss), store, adam, workers, {2, 0, 1});
  const Schedule schedule{"linear", options.lr, options.updates};
  for (Index update = 1; update <= options.updates; ++update) {
    const std::vector<Example> examples = drawn(update);
    const UpdateResult result = step(
        all_rows(examples), Pass{true, options.seed, static_cast<std::uint64_t>(update), 0}, schedule.rate(update));
    if (told) told(update, result);
  }
}

}  // namespace tapestry
