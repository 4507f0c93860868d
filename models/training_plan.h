#pragma once
// What a training will do, known before it starts.

#include "models/batch.h"
#include "models/run.h"
#include "models/run_data.h"

namespace tapestry {

/// The text in ids, and how many updates go through it.
struct TrainingPlan {
  std::vector<Example> train, valid;
  Index epoch_updates = 0;
  Index updates = 0;   // of the whole training, unless it loses patience before
  double padding = 0;  // share of the places of the first epoch's batches, both sides, that no token fills
  Schedule schedule;

  /// Errors (UsageError): no pair to train on; patience without a validation part; --batch-tokens or --max-positions
  /// that cannot hold the longest sentence.
  TrainingPlan(const Run& run, const RunData& data);
};

/// The micro-batches of one epoch, of sentences or of tokens as the configuration says; their order depends on (seed,
/// epoch) alone, their number on neither.
std::vector<MicroBatch> micro_batches(const RunConfig& config, const std::vector<Example>& train, Index epoch);

}  // namespace tapestry
