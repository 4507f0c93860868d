#pragma once
// The training loop.

#include <functional>
#include <optional>

#include "models/evaluate.h"
#include "models/run.h"
#include "models/run_data.h"

namespace tapestry {

/// The figures of summary.json.
struct TrainingSummary {
  double train_loss = 0;             // nats per target token, over the last epoch's updates, dropout on
  std::optional<double> valid_loss;  // of the best model; none without a validation part
  std::optional<double> valid_bleu;
  Index updates = 0, parameters = 0;
  double seconds = 0, tokens_per_second = 0;  // of training, validation left out; target tokens
  std::size_t peak_bytes = 0;                 // resident memory of the process
  std::uint64_t seed = 0;
  Index shards = 0, threads = 0;
};
nlohmann::json to_json(const TrainingSummary& summary);

/// What a listener is told. The loss is the mean of the epoch so far.
struct TrainingProgress {
  Index epoch = 0, epochs = 0;
  Index update = 0, updates = 0;
  double train_loss = 0, tokens_per_second = 0, seconds_left = 0;
  std::optional<double> valid_loss;
  bool epoch_ended = false;
};
using TrainingListener = std::function<void(const TrainingProgress&)>;

/// Trains a fresh model on the text and leaves the run in `directory`, which was prepared. The best model is the one of
/// lowest validation loss; without validation it is the last. The run holds the best model at the end.
TrainingSummary train(Run& run, const RunData& data, core::Workers& workers, const std::string& directory,
                      const TrainingListener& listener);

/// The largest resident memory of this process so far, in bytes.
std::size_t peak_resident_bytes();

}  // namespace tapestry
