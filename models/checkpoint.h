#pragma once
// Checkpoints: all that the next update depends on, on disk, so that training can go on after a stop or a kill.
//
//   checkpoints/epoch-3/model.safetensors   the parameters
//   checkpoints/epoch-3/state.safetensors   the moments of the optimiser; as metadata the TrainingState, in JSON
//   checkpoints/last/...                    the same, between the ends of epochs
//
// A checkpoint is written under a name that ends in .partial and renamed when it is complete.

#include <optional>
#include <string>
#include <vector>

#include "models/run_config.h"
#include "nn/store.h"
#include "optim/optimizer.h"

namespace tapestry {

/// By what a text is known again.
struct Fingerprint {
  Index pairs = 0, tokens = 0;
  std::string digest;  // sixteen hexadecimal digits that are others for (almost surely) any other text
};

/// Where a training stands. The rate and the random numbers of dropout are functions of seed and update; the order of
/// the text of seed and epoch.
struct TrainingState {
  RunConfig config;
  Index update = 0;                 // updates made
  Index epoch = 0;                  // epochs made
  Index batch = 0;                  // micro-batches made of the one that runs
  double epoch_nll = 0;             // summed over the target tokens of the epoch, the last one if none runs
  Index epoch_tokens = 0;           // how many those are
  Index tokens = 0;                 // of the whole training
  double seconds = 0;               // likewise
  std::size_t peak_bytes = 0;       // the most memory that a process of it took
  std::optional<double> best_loss;  // of the validations
  std::optional<double> best_bleu;  // at that loss, if the whole part was translated
  Index stale = 0;                  // validations since the best
  Index metrics = 0;                // lines of metrics.jsonl
  Fingerprint train_text, valid_text;
};

/// The checkpoints of one run directory. Only one process may write to it at a time (RunDirectory sees to that).
class Checkpoints {
 public:
  /// `keep` epoch checkpoints are kept; 0: the last one only.
  Checkpoints(const std::string& run_directory, Index keep) : directory_(run_directory + "/checkpoints"), keep_(keep) {}

  /// Removes what a kill left half written.
  void tidy() const;
  /// At the end of epoch `state.epoch`: epoch-N. Removes `last` and the epoch checkpoints that are too old.
  void save_epoch(const ParameterStore& store, const Optimizer& optimizer, const TrainingState& state) const;
  /// Anywhere: `last`, in place of the one before.
  void save_last(const ParameterStore& store, const Optimizer& optimizer, const TrainingState& state) const;
  /// The state of the newest checkpoint; none if there is no checkpoint. Errors: `path: ...` it cannot be read.
  std::optional<TrainingState> newest() const;
  /// Restores the newest checkpoint too. Errors also: `path: ...` what does not fit the model.
  std::optional<TrainingState> restore_newest(const ParameterStore& store, Optimizer& optimizer) const;
  /// The epochs that have a checkpoint, in order, and the file of an epoch's parameters.
  std::vector<Index> epochs() const;
  std::string parameters_of(Index epoch) const;

 private:
  void save(const std::string& name, const ParameterStore& store, const Optimizer& optimizer,
            const TrainingState& state) const;
  struct Found;
  std::optional<Found> find_newest() const;

  std::string directory_;
  Index keep_;
};

/// Whether a directory holds nothing but checkpoints.
bool holds_only_checkpoints(const std::string& directory);

}  // namespace tapestry
