#pragma once
// A whole training of a few updates, in this process.

#include <functional>
#include <string>
#include <vector>

#include "models/trainer.h"
#include "tests/temporary_directory.h"

namespace tapestry {

/// The built-in corpus, 60 pairs, and all that a recipe can have.
inline RunConfig small_training() {
  RunConfig config;
  config.pairs = 60;
  config.valid = 10;
  config.test = 1;
  config.embed = 4;
  config.hidden = 5;
  config.layers = 1;
  config.dropout = 0.2;
  config.epochs = 4;
  config.batch_tokens = 120;
  config.accumulate = 2;
  config.schedule = "inverse-sqrt";
  config.warmup = 5;
  config.initial_lr = 1e-6;
  config.beta2 = 0.98;
  config.label_smoothing = 0.1;
  config.keep = 2;
  return config;
}

/// What a training told its listener.
struct Heard : TrainingListener {
  explicit Heard(const RunConfig& config, const std::function<void(const ParameterStore&)>& before = {}) {
    const TemporaryDirectory place;
    train_in(place.path(), config, {}, before);
  }
  Heard(const std::string& directory, const RunConfig& config, const TrainingCall& call = {}) {
    train_in(directory, config, call, {});
  }

  std::vector<std::string> warnings;
  std::vector<Validation> validations;
  TrainingSummary summary;

 private:
  void train_in(const std::string& directory, const RunConfig& config, const TrainingCall& call,
                const std::function<void(const ParameterStore&)>& before) {
    const RunData data = load_data(config);
    Run run(config, Vocabulary(sources(data.train), 1), Vocabulary(targets(data.train), 1));
    if (before) before(*run.store);
    core::Workers workers(1);
    summary = train(run, data, TrainingPlan(run, data), workers, directory, *this, call);
  }
  void updated(const TrainingProgress&) override {}
  void reported(const TrainingProgress&, const std::optional<Validation>& validation) override {
    if (validation) validations.push_back(*validation);
  }
  void warned(const std::string& message) override { warnings.push_back(message); }
};

}  // namespace tapestry
