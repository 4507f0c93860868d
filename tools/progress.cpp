#include "tools/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tools/table.h"

namespace tapestry {
namespace {

std::size_t terminal_columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string speed(const TrainingProgress& progress) {
  return grouped(std::llround(progress.tokens_per_second)) + " tokens/s";
}

}  // namespace

std::string clock_time(double seconds) {
  const long long all = std::llround(std::clamp(seconds, 0.0, 3.6e8));
  const long long hours = all / 3600, minutes = all / 60 % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, all % 60);
  return fmt::format("{}:{:02}", minutes, all % 60);
}

std::string progress_bar(const TrainingProgress& progress, std::size_t columns) {
  const double share = static_cast<double>(progress.update) / static_cast<double>(std::max<Index>(progress.updates, 1));
  const std::string head = fmt::format("epoch {}/{} ", progress.epoch, progress.epochs);
  std::string tail = fmt::format("{:3.0f} %  loss {:.4f}", std::floor(100 * share), progress.train_loss);
  for (const std::string& more : {"  " + speed(progress), "  " + clock_time(progress.seconds_left) + " left"})
    if (head.size() + tail.size() + more.size() <= columns) tail += more;
  constexpr std::size_t shortest = 8, longest = 40;
  std::string bar;
  if (head.size() + tail.size() + shortest + 1 <= columns) {
    const std::size_t room = std::min(longest, columns - head.size() - tail.size() - 1);
    const auto full = static_cast<std::size_t>(std::floor(share * static_cast<double>(room)));
    for (std::size_t i = 0; i < room; ++i) bar += i < full ? "█" : "░";
    bar += ' ';
  }
  std::string line = head + bar + tail;
  if (bar.empty() && line.size() > columns) line.resize(columns);
  return line;
}

std::string report_line(const TrainingProgress& progress, const std::optional<Validation>& validation) {
  std::string line = fmt::format("epoch {}/{}", progress.epoch, progress.epochs);
  if (progress.inside) line += fmt::format(", update {}", progress.update);
  line += fmt::format("  loss {:.4f}", progress.train_loss);
  if (validation)
    line += fmt::format("  validation {:.4f}  BLEU {:.2f}  length {:.2f}  distinct {:.0f} %", validation->loss,
                        validation->bleu, validation->length_ratio, 100 * validation->distinct);
  return line + fmt::format("  {}  {} left", speed(progress), clock_time(progress.seconds_left));
}

std::string sample_lines(const Validation& validation) {
  std::string lines;
  for (const auto& sample : validation.samples)
    lines += fmt::format("    {}\n    → {}\n", sample.source, sample.translation);
  return lines;
}

ProgressDisplay::ProgressDisplay() : terminal_(isatty(STDOUT_FILENO) == 1) {}

ProgressDisplay::~ProgressDisplay() {
  if (open_) std::puts("");
}

void ProgressDisplay::updated(const TrainingProgress& progress) {
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ || now - drawn_ < std::chrono::milliseconds(100)) return;
  drawn_ = now;
  open_ = true;
  // Back to the start of the line, and clear what the longer line before left. A full line would wrap: one column less.
  fmt::print("\r{}\x1b[K", progress_bar(progress, terminal_columns() - 1));
  std::fflush(stdout);
}

void ProgressDisplay::reported(const TrainingProgress& progress, const std::optional<Validation>& validation) {
  print_above(report_line(progress, validation) + "\n" + (validation ? sample_lines(*validation) : ""));
}

void ProgressDisplay::warned(const std::string& message) {
  print_above("tapestry: warning: " + message + "\n");
}

void ProgressDisplay::print_above(const std::string& lines) {
  fmt::print("{}{}", open_ ? "\r\x1b[K" : "", lines);
  open_ = false;
  std::fflush(stdout);
}

}  // namespace tapestry
