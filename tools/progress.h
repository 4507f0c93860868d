#pragma once
// What a training run shows of itself while it runs.

#include <chrono>
#include <string>

#include "models/trainer.h"

namespace tapestry {

/// One line of at most `columns` columns: a bar of the updates made, the loss, tokens per second and the time left.
/// Where room is short, whatever of speed, time and bar still fits, in this order, is kept.
std::string progress_bar(const TrainingProgress& progress, std::size_t columns);

/// What the epoch has come to, as a plain line without its end.
std::string report_line(const TrainingProgress& progress, const std::optional<Validation>& validation);

/// The translations of a validation, each below its source, indented.
std::string sample_lines(const Validation& validation);

/// Seconds as "0:07", "12:30" or "3:04:05".
std::string clock_time(double seconds);

/// Shows a training on standard output: plain lines for every report and warning, and on a terminal below them a bar
/// that is drawn anew at most ten times a second.
class ProgressDisplay : public TrainingListener {
 public:
  ProgressDisplay();
  ~ProgressDisplay() override;  // ends the line of a bar that a failure cut off
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;
  void updated(const TrainingProgress& progress) override;
  void reported(const TrainingProgress& progress, const std::optional<Validation>& validation) override;
  void warned(const std::string& message) override;

 private:
  void print_above(const std::string& lines);
  bool terminal_, open_ = false;  // open: the bar's line waits for its end
  std::chrono::steady_clock::time_point drawn_;
};

}  // namespace tapestry
