#include "tools/progress.h"

#include <doctest/doctest.h>

#include "tools/table.h"

using namespace tapestry;

TEST_SUITE_BEGIN("fast");

namespace {

TrainingProgress halfway() {
  TrainingProgress progress;
  progress.epoch = 3;
  progress.epochs = 12;
  progress.update = 157;
  progress.updates = 314;
  progress.train_loss = 1.25;
  progress.tokens_per_second = 12345.6;
  progress.seconds_left = 83;
  return progress;
}

}  // namespace

TEST_CASE("progress: the bar fits the terminal, and shows what there is room for") {
  const TrainingProgress progress = halfway();
  CHECK(progress_bar(progress, 75) == "epoch 3/12 ████████░░░░░░░░░  50 %  loss 1.2500  12,346 tokens/s  1:23 left");
  CHECK(progress_bar(progress, 40) == "epoch 3/12  50 %  loss 1.2500  1:23 left");
  CHECK(progress_bar(progress, 38) == "epoch 3/12 ████░░░░  50 %  loss 1.2500");
  CHECK(progress_bar(progress, 30) == "epoch 3/12  50 %  loss 1.2500");
  CHECK(display_width(progress_bar(progress, 75)) == 75);
  for (std::size_t columns = 0; columns < 200; ++columns)
    CHECK(display_width(progress_bar(progress, columns)) <= columns);
  CHECK(display_width(progress_bar(progress, 199)) == display_width(progress_bar(progress, 150)));
}

TEST_CASE("progress: a report in plain lines") {
  const TrainingProgress progress = halfway();
  CHECK(report_line(progress, {}) == "epoch 3/12  loss 1.2500  12,346 tokens/s  1:23 left");
  Validation validation;
  validation.loss = 1.5;
  validation.bleu = 33.333;
  validation.length_ratio = 0.976;
  validation.distinct = 0.85;
  validation.samples = {{"go .", "va !", "pars !"}};
  CHECK(
      report_line(progress, validation) ==
      "epoch 3/12  loss 1.2500  validation 1.5000  BLEU 33.33  length 0.98  distinct 85 %  12,346 tokens/s  1:23 left");
  TrainingProgress within = progress;
  within.inside = true;
  CHECK(report_line(within, {}) == "epoch 3/12, update 157  loss 1.2500  12,346 tokens/s  1:23 left");
  CHECK(sample_lines(validation) == "    go .\n    → pars !\n");
}

TEST_CASE("progress: times for people") {
  CHECK(clock_time(0) == "0:00");
  CHECK(clock_time(59.6) == "1:00");
  CHECK(clock_time(3599) == "59:59");
  CHECK(clock_time(36610) == "10:10:10");
  CHECK(clock_time(-1) == "0:00");
}

TEST_CASE("table: columns are aligned by what a terminal shows") {
  CHECK(format_table({{"a", "12", "x"}, {"我们", "3", ""}}, "lrl") == "a     12  x\n我们   3\n");
  CHECK_THROWS_WITH_AS(format_table({{"a"}}, "lr"), "table: a row must have 2 cells; given 1", Error);
  CHECK(grouped(1234567) == "1,234,567");
  CHECK(grouped(-123456) == "-123,456");
  CHECK(grouped(999) == "999");
}

TEST_SUITE_END();
