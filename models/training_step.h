#pragma once
// One update: shards forward and backward, their gradients together, one step of the optimiser.

#include <span>
#include <string>
#include <vector>

#include "core/workers.h"
#include "models/sequence_loss.h"
#include "optim/optimizer.h"

namespace tapestry {

struct TrainingStepOptions {
  std::size_t shards = 2;
  double divisor = 0;  // what the summed loss is divided by; 0: the update's real target tokens
  double clip = 0;  // largest norm of the gradient; 0: no clipping, and no norm is needed but to see that it is finite
  double label_smoothing = 0;
  // The shards one after the other, on one thread, into one buffer of gradients: less memory and less speed. The sums
  // are then rounded in another order.
  bool low_memory = false;
};

struct UpdateResult {
  double nll = 0;    // summed over the update's real target tokens, before the update, with dropout, unsmoothed
  Index tokens = 0;  // how many those are
  double norm = 0;   // of the divided gradient, before clipping
};

/// A batch is cut into a fixed number of shards. Each has its own tape and its own gradients; they are added in shard
/// order over fixed pieces. So the result depends on the options, the number of shards among them, not on the threads.
class TrainingStep {
 public:
  /// Everything given is used, not copied, and must outlive this.
  TrainingStep(const EncoderDecoder& model, const ParameterStore& store, Optimizer& optimizer, core::Workers& workers,
               const TrainingStepOptions& options);
  /// The same of any loss, which then says itself how labels are smoothed.
  TrainingStep(BatchLoss loss, const ParameterStore& store, Optimizer& optimizer, core::Workers& workers,
               const TrainingStepOptions& options);

  /// Updates the parameters by these micro-batches at the rate `lr`. Their gradients are added up before anything is
  /// divided, and a sentence's dropout is that of its place in the whole update: but for rounding, several
  /// micro-batches are one large one, and only a shard's part of one of them is in memory at a time. `pass` says seed
  /// and number of the update. Errors: loss or norm are not finite, with the first op and the first parameter that are
  /// to blame; the parameters are then as they were.
  UpdateResult operator()(std::span<const MicroBatch> batches, Pass pass, double lr);
  UpdateResult operator()(const MicroBatch& rows, const Pass& pass, double lr) { return (*this)({&rows, 1}, pass, lr); }

 private:
  UpdateResult update(std::span<const MicroBatch> batches, const Pass& pass, double lr);
  void run_shard(std::size_t shard, std::span<const MicroBatch> batches, Pass pass);
  double gather_gradients(double divisor);
  std::string blame(std::span<const MicroBatch> batches, const Pass& pass);

  BatchLoss loss_;
  const ParameterStore& store_;
  Optimizer& optimizer_;
  core::Workers& workers_;
  TrainingStepOptions options_;
  std::vector<ParameterStore::Gradients> gradients_;  // of each shard, or of all
  std::vector<double> nll_;                           // of each shard
};

}  // namespace tapestry
