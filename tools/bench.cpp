// tapestry bench: time and memory of a training step beside the floor under it, and the speed of decoding.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "models/trainer.h"
#include "models/training_step.h"
#include "tools/apart.h"
#include "tools/bench_decode.h"
#include "tools/commands.h"
#include "tools/gemm_floor.h"
#include "tools/mean_seconds.h"
#include "tools/median.h"
#include "tools/options.h"
#include "tools/random_sentence.h"
#include "tools/table.h"

namespace tapestry {
namespace {

struct BenchCommand {
  std::vector<std::string> names{"d2l-bahdanau"};
  int threads = 0;
  Index shards = 0;
  int repetitions = 5;  // of step and floor, alternately; their medians are reported
  bool json = false;
};

constexpr double seconds_each = 0.5;
constexpr const char* decoding_name = "decode";

// The recipe of a preset on a batch that is always the same size.
struct BenchModel {
  RunConfig config;
  Index source_vocabulary = 188, target_vocabulary = 201;  // what the book's 600 pairs have
};

BenchModel bench_model(const std::string& name) {
  BenchModel model{preset(name)};
  if (name.starts_with("transformer-")) {
    model.source_vocabulary = model.target_vocabulary = 10000;
    model.config.batch = name == "transformer-base" ? 32 : 128;
    model.config.length = name == "transformer-base" ? 32 : 16;
    model.config.final_norm = "on";  // as torch.nn.Transformer, beside which it is timed
    model.config.clip = 0;
    model.config.label_smoothing = 0.1;
  }
  return model;
}

// Random sentences, every one at full length.
std::vector<Example> random_examples(const BenchModel& model) {
  const RunConfig& config = model.config;
  core::Random random(1);
  std::vector<Example> examples;
  for (Index b = 0; b < config.batch; ++b)
    examples.push_back({random_sentence(random, model.source_vocabulary, config.length),
                        random_sentence(random, model.target_vocabulary, config.length)});
  return examples;
}

struct StepCost {
  double seconds;     // of one update: forward, loss, backward, clipping, optimiser
  double peak_bytes;  // of the process
  double tokens;      // target tokens of one update
};

StepCost measure_step(const std::string& name, int threads, Index shards) {
  const BenchModel bench = bench_model(name);
  const RunConfig& config = bench.config;
  core::Workers workers(threads);
  ParameterStore store(DType::f32, config.seed);
  const auto model = make_model(config.shape(bench.source_vocabulary, bench.target_vocabulary), Scope(store));
  Adam adam(store.pieces());
  TrainingStep step(*model, store, adam, workers,
                    {static_cast<std::size_t>(shards), config.divisor, config.clip, config.label_smoothing});
  const std::vector<Example> examples = random_examples(bench);
  const MicroBatch rows = all_rows(examples);

  Pass pass{true, config.seed, 0, 0};
  const auto run = [&] {
    ++pass.update;
    return step(rows, pass, config.lr).tokens;
  };
  const auto tokens = static_cast<double>(run());
  mean_seconds(seconds_each / 4, run);  // until caches and free lists are warm
  return {mean_seconds(seconds_each, run), static_cast<double>(peak_resident_bytes()), tokens};
}

struct BenchRow {
  std::string name;
  int threads;
  Index shards;
  double step_ms, floor_ms, gflop, tokens_per_second, peak_bytes;
  bool comparable() const { return threads == 1 && shards == 1; }  // the floor is that of one thread
};

BenchRow measure(const std::string& name, int threads, Index shards, int repetitions) {
  const std::vector<Product> products = floor_products(name);
  std::vector<double> step, floor, peak;
  double tokens = 0;
  for (int r = 0; r < repetitions; ++r) {
    const auto cost = apart([&] {
      const StepCost c = measure_step(name, threads, shards);
      return std::vector{c.seconds, c.peak_bytes, c.tokens};
    });
    step.push_back(cost[0]);
    peak.push_back(cost[1]);
    tokens = cost[2];
    floor.push_back(apart([&] { return std::vector{time_products(products, seconds_each)}; })[0]);
  }
  return {name,
          threads,
          shards,
          median(step) * 1e3,
          median(floor) * 1e3,
          floating_point_operations(products) * 1e-9,
          tokens / median(step),
          median(peak)};
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
          {"peak_bytes", row.peak_bytes}};
}

nlohmann::json to_json(const DecodeRow& row) {
  return {{"name", decoding_name},
          {"decoder", row.decoder},
          {"threads", row.threads},
          {"sentences_per_second", row.sentences_per_second}};
}

void print(const std::vector<BenchRow>& rows, int repetitions) {
  std::vector<std::vector<std::string>> table{
      {"step", "threads", "shards", "ms", "floor ms", "GFLOP", "ratio", "target tokens/s", "peak MB"}};
  for (const BenchRow& row : rows)
    table.push_back({row.name, std::to_string(row.threads), std::to_string(row.shards),
                     fmt::format("{:.3f}", row.step_ms), fmt::format("{:.3f}", row.floor_ms),
                     fmt::format("{:.3f}", row.gflop),
                     row.comparable() ? fmt::format("{:.2f}", row.step_ms / row.floor_ms) : "",
                     grouped(std::llround(row.tokens_per_second)), fmt::format("{:.1f}", row.peak_bytes / 1e6)});
  fmt::print("{}floor: the step's matrix products alone through cblas, one thread; medians of {} alternating runs\n",
             format_table(table, "lrrrrrrrr"), repetitions);
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

void run_bench(const BenchCommand& options) {
  std::vector<std::pair<int, Index>> setups{{1, 1}, {2, 2}};
  if (options.threads > 0 || options.shards > 0) {
    const Index shards = options.shards > 0 ? options.shards : options.threads;
    setups = {{options.threads > 0 ? options.threads : static_cast<int>(std::min<Index>(shards, 2)), shards}};
  }
  for (const std::string& name : options.names) require_one_of("bench", name, bench_names());  // before measuring
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
  add_json(command, options->json);
  command.callback([options, positive, &command] {
    if (command.count("--threads") > 0) positive("--threads", options->threads);
    if (command.count("--shards") > 0) positive("--shards", options->shards);
    positive("--repetitions", options->repetitions);
    run_bench(*options);
  });
}

}  // namespace tapestry
