#pragma once
// The training steps that are timed.

#include <string>

#include "models/run_config.h"
#include "models/training_step.h"

namespace tapestry {

/// A training step by the recipe of a preset, on one batch of random sentences, every one at full length.
class BenchStep {
 public:
  /// `name` is one of floor_names().
  BenchStep(const std::string& name, int threads, Index shards, bool low_memory = false);
  /// One update.
  UpdateResult operator()();
  Index updates() const { return static_cast<Index>(pass_.update); }

 private:
  struct Recipe {
    RunConfig config;
    Index source_vocabulary = 188, target_vocabulary = 201;  // what the book's 600 pairs have
  };
  static Recipe recipe(const std::string& name);

  Recipe recipe_;
  core::Workers workers_;
  ParameterStore store_;
  std::unique_ptr<EncoderDecoder> model_;
  Adam adam_;
  TrainingStep step_;
  std::vector<Example> examples_;
  MicroBatch rows_;
  Pass pass_;
};

}  // namespace tapestry
