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
#include "tools/bench_scaling.h"
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
  bool profile = false, low_memory = false;
  bool json = false;
};

constexpr double seconds_each = 0.5;
constexpr const char *decoding_name = "decode", *scaling_name = "scaling";

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

StepCost measure_step(const std::string& name, int threads, Index shards, bool low_memory) {
  BenchStep step(name, threads, shards, low_memory);
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
  double step_ms, floor_ms, ratio, gflop, tokens_per_second, peak_bytes, faults;
  bool comparable() const { return threads == 1 && shards == 1; }  // the floor is that of one thread
};

BenchRow measure(const std::string& name, int threads, Index shards, const BenchCommand& options) {
  const std::vector<Product> products = floor_products(name);
  std::vector<double> step, floor, ratio, peak, faults;
  double tokens = 0;
  for (int r = 0; r < options.repetitions; ++r) {
    const auto cost = apart([&] {
      const StepCost c = measure_step(name, threads, shards, options.low_memory);
      return std::vector{c.seconds, c.peak_bytes, c.faults, c.tokens};
    });
    step.push_back(cost[0]);
    peak.push_back(cost[1]);
    faults.push_back(cost[2]);
    tokens = cost[3];
    floor.push_back(apart([&] { return std::vector{time_products(products, seconds_each)}; })[0]);
    ratio.push_back(step.back() / floor.back());  // of neighbours: the machine's own speed drifts
  }
  return {name,
          threads,
          shards,
          median(step) * 1e3,
          median(floor) * 1e3,
          median(ratio),
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
          {"ratio", row.comparable() ? nlohmann::json(row.ratio) : nlohmann::json(nullptr)},
          {"tokens_per_second", row.tokens_per_second},
          {"peak_bytes", row.peak_bytes},
          {"page_faults", row.faults}};
}

void print(const std::vector<BenchRow>& rows, const BenchCommand& options) {
  std::vector<std::vector<std::string>> table{
      {"step", "threads", "shards", "ms", "floor ms", "GFLOP", "ratio", "target tokens/s", "peak MB", "faults"}};
  for (const BenchRow& row : rows)
    table.push_back({row.name, std::to_string(row.threads), std::to_string(row.shards),
                     fmt::format("{:.3f}", row.step_ms), fmt::format("{:.3f}", row.floor_ms),
                     fmt::format("{:.3f}", row.gflop), row.comparable() ? fmt::format("{:.2f}", row.ratio) : "",
                     grouped(std::llround(row.tokens_per_second)), fmt::format("{:.1f}", row.peak_bytes / 1e6),
                     fmt::format("{:.1f}", row.faults)});
  fmt::print(
      "{}floor: the step's matrix products alone through cblas, one thread; faults: pages that a step takes from the "
      "system; medians of {} alternating runs{}\n",
      format_table(table, "lrrrrrrrrr"), options.repetitions, options.low_memory ? "; shards one by one" : "");
}

std::vector<std::string> bench_names() {
  std::vector<std::string> names = floor_names();
  names.insert(names.end(), {decoding_name, scaling_name});
  return names;
}

// No option is taken that what is measured does not heed.
void require_used(const BenchCommand& options, const CLI::App& command) {
  const auto refuse = [&](const char* option, const std::string& what) {
    if (command.count(option) > 0) throw UsageError(fmt::format("{}: is of no use to {}", option, what));
  };
  if (options.profile) {
    refuse("--threads", "a profile, which is of one thread");
    refuse("--repetitions", "a profile, which is of one second");
  }
  for (const std::string& name : options.names) {
    if (name != decoding_name && name != scaling_name) continue;
    for (const char* option : {"--shards", "--low-memory"}) refuse(option, name);
    if (name == scaling_name) refuse("--threads", name);
  }
}

void run_profile(const BenchCommand& options) {
  nlohmann::json list = nlohmann::json::array();
  for (const std::string& name : options.names) {
    const Index shards = std::max<Index>(options.shards, 1);
    const std::vector<OpCost> costs = profile_step(name, shards, options.low_memory);
    if (!options.json) fmt::print("{}, one thread, {}\n{}", name, counted(shards, "shard"), format_profile(costs));
    for (const OpCost& cost : costs) {
      list.push_back(to_json(cost));
      list.back()["name"] = name;
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
  std::optional<Scaling> scaling;
  for (const std::string& name : options.names) {
    if (name == scaling_name) {
      scaling = bench_scaling(options.repetitions);
    } else if (name == decoding_name) {
      std::vector<int> threads;
      for (const auto& setup : setups) threads.push_back(setup.first);
      decoding = bench_decode(threads, options.repetitions);
    } else {
      for (const auto& [threads, shards] : setups) steps.push_back(measure(name, threads, shards, options));
    }
  }
  if (options.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const BenchRow& row : steps) list.push_back(to_json(row));
    for (const DecodeRow& row : decoding) {
      list.push_back(to_json(row));
      list.back()["name"] = decoding_name;
    }
    nlohmann::json all{{"rows", list}, {"low_memory", options.low_memory}};
    if (scaling) all[scaling_name] = to_json(*scaling);
    fmt::print("{}\n", all.dump(2));
    return;
  }
  if (!steps.empty()) print(steps, options);
  if (!decoding.empty()) fmt::print("{}", format_decoding(decoding, options.repetitions));
  if (scaling) fmt::print("{}", format_scaling(*scaling));
}

}  // namespace

void add_bench(CLI::App& program) {
  CLI::App& command = *program.add_subcommand(
      "bench",
      "Time a training step beside its floor, the step's matrix products alone on one thread; or decoding; or how the\n"
      "cost of self-attention grows with its size.");
  const auto options = std::make_shared<BenchCommand>();
  command
      .add_option("name", options->names,
                  fmt::format("What to time: {} (default: d2l-bahdanau)", fmt::join(bench_names(), ", ")))
      ->type_name("NAME");
  add_number(command, "--threads", options->threads, "Threads (default: one, then two)");
  add_number(command, "--shards", options->shards, "Shards a batch is cut into (default: as many as threads)");
  add_number(command, "--repetitions", options->repetitions, "Alternating runs of step and floor (default: 5)");
  command.add_flag("--profile", options->profile, "Where the time of a step goes, op by op, on one thread");
  command.add_flag("--low-memory", options->low_memory, "Shards one by one, with one buffer of gradients");
  add_json(command, options->json);
  command.callback([options, &command] {
    if (command.count("--threads") > 0) require_within("--threads", options->threads, 1, 1024);
    if (command.count("--shards") > 0) require_within("--shards", options->shards, 1, 1024);
    require_within("--repetitions", options->repetitions, 1, 1024);
    require_used(*options, command);
    run_bench(*options);
  });
}

}  // namespace tapestry
