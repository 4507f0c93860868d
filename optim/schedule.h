#pragma once
// How the learning rate moves over the updates.

#include <string>
#include <vector>

#include "core/dtype.h"

namespace tapestry {

/// The rate as a function of the update t = 1 ... `updates`, by name:
///
///   constant       lr
///   linear         lr (1 - (t - 1) / updates): falls towards 0 after the last update
///   inverse-sqrt   initial + (lr - initial) t / warmup   up to t = warmup, then   lr sqrt(warmup / t)
///   noam           factor width^-0.5 min(t^-0.5, t warmup^-1.5)
///
/// The last is that of Vaswani et al. 2017, equation 3; inverse-sqrt is the same curve given by its peak, as in fairseq
/// (whose t is the number of updates made before, and so one less).
struct Schedule {
  std::string name = "constant";  // one of schedule_names()
  double lr = 0.001;
  Index updates = 1;    // of the whole training
  Index warmup = 4000;  // at least 1 where it is used
  double initial = 0;
  double factor = 1;
  Index width = 512;  // of the model

  /// The rate of an update; update 0 is treated as 1. Errors (UsageError): an unknown name.
  double rate(Index update) const;

  struct Peak {
    double rate;
    Index update;
  };
  /// The highest rate of the training, and the first update that has it.
  Peak peak() const;
};

const std::vector<std::string>& schedule_names();

}  // namespace tapestry
