#pragma once
// The training of a small model on examples drawn for each update: that of the course's experiments.

#include "models/training_step.h"

namespace tapestry {

struct FitOptions {
  Index updates = 500;
  double lr = 0.003;  // falls evenly to 0
  std::uint64_t seed = 1;
};
/// Errors (UsageError): `--updates: ...`, `--lr: ...` out of range.
void validate(const FitOptions& options);

/// Adam, two shards, gradients clipped at norm 1. drawn(update) gives the examples of update 1, 2, ...;
/// told(update, result) hears what became of them.
void fit(BatchLoss loss, const ParameterStore& store, core::Workers& workers, const FitOptions& options,
         const std::function<std::vector<Example>(Index update)>& drawn,
         const std::function<void(Index update, const UpdateResult& result)>& told = {});

}  // namespace tapestry
