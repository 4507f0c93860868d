#pragma once
// What a training run shows of itself while it runs.

#include <chrono>
#include <string>

#include "models/trainer.h"

namespace tapestry {

/// One line of at most `columns` columns: a bar of the updates made, the loss, tokens per second and the time left.
/// Where room is short, whatever of speed, time and bar still fits, in this order, is kept.
std::string progress_bar(const TrainingProgress& progress, std::size_t columns);

/// What one epoch came to, as a plain line without its end.
std::string epoch_line(const TrainingProgress& progress);

/// Seconds as "0:07", "12:30" or "3:04:05".
std::string clock_time(double seconds);

/// Shows a training on standard output: a bar that is drawn anew at most ten times a second on a terminal, a plain line
/// an epoch elsewhere.
class ProgressDisplay {
 public:
  ProgressDisplay();
  ~ProgressDisplay();  // ends the line of a bar that a failure cut off
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;
  void operator()(const TrainingProgress& progress);

 private:
  bool terminal_, open_ = false;  // open: the bar's line waits for its end
  std::chrono::steady_clock::time_point drawn_;
};

}  // namespace tapestry
