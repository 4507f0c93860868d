#pragma once
// The training loop.

#include <optional>

#include "models/training_plan.h"
#include "models/validation.h"

namespace tapestry {

/// The figures of summary.json.
struct TrainingSummary {
  double train_loss = 0;             // nats per target token, unsmoothed, over the last epoch's updates, dropout on
  std::optional<double> valid_loss;  // of the best model; none without a validation part
  std::optional<double> valid_bleu;
  std::optional<std::string> bleu_signature;  // of that
  std::string stopped;  // what ended training: "epochs", "updates" or "patience"; empty while it can go on
  double peak_rate = 0;
  Index updates = 0, parameters = 0;
  double seconds = 0, tokens_per_second = 0;  // of training, validation left out; target tokens
  std::size_t peak_bytes = 0;                 // resident memory, of the process of the training that took most
  std::uint64_t seed = 0;
  Index shards = 0, threads = 0;
};
nlohmann::json to_json(const TrainingSummary& summary);

/// Where a training stands.
struct TrainingProgress {
  Index epoch = 0, epochs = 0;
  bool inside = false;  // the epoch goes on
  Index update = 0, updates = 0;
  double train_loss = 0;  // the mean of the epoch so far
  double rate = 0;        // of the last update
  double tokens_per_second = 0, seconds_left = 0;
};

/// Who is told what happens.
class TrainingListener {
 public:
  virtual ~TrainingListener() = default;
  /// After every update.
  virtual void updated(const TrainingProgress& progress) = 0;
  /// After every epoch, or as often as the configuration validates; without a validation part there is no validation.
  virtual void reported(const TrainingProgress& progress, const std::optional<Validation>& validation) = 0;
  /// Training goes on, but something is likely to be wrong.
  virtual void warned(const std::string& message) = 0;
};

/// What is asked of one call, and no part of the configuration.
struct TrainingCall {
  bool resume = false;   // from the newest checkpoint of the directory
  Index stop_after = 0;  // updates of this call; 0: to the end
};

/// Trains a fresh model as planned and leaves the run in `directory`, which was prepared. The best model is the one of
/// lowest validation loss; without validation it is the last. The run holds the best model at the end. A training that
/// is stopped or killed and resumed gives the same bytes as one that is not.
TrainingSummary train(Run& run, const RunData& data, const TrainingPlan& plan, core::Workers& workers,
                      const std::string& directory, TrainingListener& listener, const TrainingCall& call = {});

/// The largest resident memory of this process so far, in bytes.
std::size_t peak_resident_bytes();

}  // namespace tapestry
