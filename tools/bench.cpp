// tapestry bench: time and memory of a training step beside the floor under it, and the speed of decoding.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "models/trainer.h"
#include "tools/apart.h"
#include "tools/bench_decode.h"
#include "tools/bench_profile.h"
#include "tools/bench_step.h"
#include "tools/commands.h"
#include "tools/gemm_floor.h"
#include "tools/mean_seconds.h"
#include "tools/median.h"
#include "tools/options.h"
#include "tools/table.h"

namespace tapestry {
namespace {

struct BenchCommand {
  std::vector<std::string> names{"d2l-bahdanau"};
  int threads = 0;
  Index shards = 0;
  int repetitions = 5;  // of step and floor, alternately; their medians are reported
  bool profile = false;
  bool json = false;
};

constexpr double seconds_each = 0.5;
constexpr const char* decoding_name = "decode";

struct StepCost {
  double seconds;     // of one update: forward, loss, backward, clipping, optimiser
  double peak_bytes;  // of the process
  double faults;      // pages that an update takes from the system
  double tokens;      // target tokens of one update
};

double page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_minflt);
}

StepCost measure_step(const std::string& name, int threads, Index shards) {
  BenchStep step(name, threads, shards);
  const auto tokens = static_cast<double>(step().tokens);
  mean_seconds(seconds_each / 4, step);  // until caches and free lists are warm
  const double faults = page_faults();
  const Index before = step.updates();
  const double seconds = mean_seconds(seconds_each, step);
  return {seconds, static_cast<double>(peak_resident_bytes()),
          (page_faults() - faults) / static_cast<double>(step.updates() - before), tokens};
}

struct BenchRow {
  std::string name;
  int threads;
  Index shards;
  double step_ms, floor_ms, gflop, tokens_per_second, peak_bytes, faults;
  bool comparable() const { return threads == 1 && shards == 1; }  // the floor is that of one thread
};

BenchRow measure(const std::string& name, int threads, Index shards, int repetitions) {
  const std::vector<Product> products = floor_products(name);
  std::vector<double> step, floor, peak, faults;
  double tokens = 0;
  for (int r = 0; r < repetitions; ++r) {
    const auto cost = apart([&] {
      const StepCost c = measure_step(name, threads, shards);
      return std::vector{c.seconds, c.peak_bytes, c.faults, c.tokens};
    });
    step.push_back(cost[0]);
    peak.push_back(cost[1]);
    faults.push_back(cost[2]);
    tokens = cost[3];
    floor.push_back(apart([&] { return std::vector{time_products(products, seconds_each)}; })[0]);
  }
  return {name,
          threads,
          shards,
          median(step) * 1e3,
          median(floor) * 1e3,
          floating_point_operations(products) * 1e-9,
          tokens / median(step),
          median(peak),
          median(faults)};
}

nlohmann::json to_json(const BenchRow& row) {
  return {{"name", row.name},
          {"threads", row.threads},
          {"shards", row.shards},
          {"ms_per_step", row.step_ms},
          {"floor_ms", row.floor_ms},
          {"gflop", row.gflop},
          {"ratio", row.comparable() ? nlohmann::json(row.step_ms / row.floor_ms) : nlohmann::json(nullptr)},
          {"tokens_per_second", row.tokens_per_second},
          {"peak_bytes", row.peak_bytes},
          {"page_faults", row.faults}};
}

nlohmann::json to_json(const DecodeRow& row) {
  return {{"name", decoding_name},
          {"decoder", row.decoder},
          {"threads", row.threads},
          {"sentences_per_second", row.sentences_per_second}};
}

void print(const std::vector<BenchRow>& rows, int repetitions) {
  std::vector<std::vector<std::string>> table{
      {"step", "threads", "shards", "ms", "floor ms", "GFLOP", "ratio", "target tokens/s", "peak MB", "faults"}};
  for (const BenchRow& row : rows)
    table.push_back({row.name, std::to_string(row.threads), std::to_string(row.shards),
                     fmt::format("{:.3f}", row.step_ms), fmt::format("{:.3f}", row.floor_ms),
                     fmt::format("{:.3f}", row.gflop),
                     row.comparable() ? fmt::format("{:.2f}", row.step_ms / row.floor_ms) : "",
                     grouped(std::llround(row.tokens_per_second)), fmt::format("{:.1f}", row.peak_bytes / 1e6),
                     fmt::format("{:.1f}", row.faults)});
  fmt::print(
      "{}floor: the step's matrix products alone through cblas, one thread; faults: pages that a step takes from the "
      "system; medians of {} alternating runs\n",
      format_table(table, "lrrrrrrrrr"), repetitions);
}

void print(const std::vector<DecodeRow>& rows, int repetitions) {
  std::vector<std::vector<std::string>> table{{"decoding", "threads", "sentences/s"}};
  for (const DecodeRow& row : rows)
    table.push_back({row.decoder, std::to_string(row.threads), fmt::format("{:.1f}", row.sentences_per_second)});
  fmt::print("{}transformer-tiny, 14 steps of 64 sentences of 15 tokens at a time; medians of {} alternating runs\n",
             format_table(table, "lrr"), repetitions);
}

std::vector<std::string> bench_names() {
  std::vector<std::string> names = floor_names();
  names.push_back(decoding_name);
  return names;
}

void run_profile(const BenchCommand& options) {
  nlohmann::json list = nlohmann::json::array();
  for (const std::string& name : options.names) {
    const std::vector<OpCost> costs = profile_step(name, std::max<Index>(options.shards, 1));
    if (options.json) {
      for (const OpCost& cost : costs) list.push_back(to_json(cost)), list.back()["name"] = name;
    } else {
      fmt::print("{}, one thread\n{}", name, format_profile(costs));
    }
  }
  if (options.json) fmt::print("{}\n", nlohmann::json{{"rows", list}}.dump(2));
}

void run_bench(const BenchCommand& options) {
  std::vector<std::pair<int, Index>> setups{{1, 1}, {2, 2}};
  if (options.threads > 0 || options.shards > 0) {
    const Index shards = options.shards > 0 ? options.shards : options.threads;
    setups = {{options.threads > 0 ? options.threads : static_cast<int>(std::min<Index>(shards, 2)), shards}};
  }
  const auto& known = options.profile ? floor_names() : bench_names();
  for (const std::string& name : options.names) require_one_of("bench", name, known);  // before measuring
  if (options.profile) return run_profile(options);
  std::vector<BenchRow> steps;
  std::vector<DecodeRow> decoding;
  for (const std::string& name : options.names) {
    if (name == decoding_name) {
      std::vector<int> threads;
      for (const auto& setup : setups) threads.push_back(setup.first);
      decoding = bench_decode(threads, options.repetitions);
    } else {
      for (const auto& [threads, shards] : setups) steps.push_back(measure(name, threads, shards, options.repetitions));
    }
  }
  if (options.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const BenchRow& row : steps) list.push_back(to_json(row));
    for (const DecodeRow& row : decoding) list.push_back(to_json(row));
    fmt::print("{}\n", nlohmann::json{{"rows", list}}.dump(2));
    return;
  }
  if (!steps.empty()) print(steps, options.repetitions);
  if (!decoding.empty()) print(decoding, options.repetitions);
}

}  // namespace

void add_bench(CLI::App& program) {
  CLI::App& command = *program.add_subcommand(
      "bench", "Time a training step beside its floor, the step's matrix products alone on one thread; or decoding.");
  const auto options = std::make_shared<BenchCommand>();
  command
      .add_option("name", options->names,
                  fmt::format("Steps, or decoding: {} (default: d2l-bahdanau)", fmt::join(bench_names(), ", ")))
      ->type_name("NAME");
  const auto positive = [](const char* option, Index value) {
    if (value < 1 || value > 1024) throw UsageError(fmt::format("{}: must lie in [1, 1024]; given {}", option, value));
  };
  add_number(command, "--threads", options->threads, "Threads (default: one, then two)");
  add_number(command, "--shards", options->shards, "Shards a batch is cut into (default: as many as threads)");
  add_number(command, "--repetitions", options->repetitions, "Alternating runs of step and floor (default: 5)");
  command.add_flag("--profile", options->profile, "Where the time of a step goes, op by op, on one thread");
  add_json(command, options->json);
  command.callback([options, positive, &command] {
    if (command.count("--threads") > 0) positive("--threads", options->threads);
    if (command.count("--shards") > 0) positive("--shards", options->shards);
    positive("--repetitions", options->repetitions);
    if (options->profile && options->threads > 1)
      throw UsageError(fmt::format("--threads: a profile is of one thread; given {}", options->threads));
    run_bench(*options);
  });
}

}  // namespace tapestry
