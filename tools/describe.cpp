// tapestry describe: what a model consists of and what training it will cost, before anything runs.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "models/model_cost.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/table.h"

namespace tapestry {
namespace {

struct DescribeOptions {
  explicit DescribeOptions(CLI::App& command) : config(command) {}
  ConfigOptions config;
  std::string preset = "quickstart";
  Index source_words = 10000, target_words = 10000;
  Index tokens = 0;  // 0: as the preset cuts sentences, or 16
  bool json = false;
};

// A mean sentence has so much of the longest one, in the built-in corpus and in Multi30k.
constexpr double mean_share = 0.6;

constexpr Index most_pairs = 1'000'000'000'000;  // their tokens can still be counted

struct Description {
  RunConfig config;
  ModelShape shape;
  ParameterStore store;
  TrainingSize size;
  double operations = 0, peak_bytes = 0;

  explicit Description(const DescribeOptions& options) : config(tapestry::preset(options.preset)) {
    options.config.apply(config);
    // Of whatever text, not of the built-in corpus and its bounds.
    const Index pairs = std::exchange(config.pairs, 0);
    validate(config);
    require_within("--pairs", pairs, 0, most_pairs);
    for (const auto& [option, value] :
         {std::pair("--source-words", options.source_words), std::pair("--target-words", options.target_words)})
      require_within(option, value, 5, 1 << 24);
    const Index tokens = options.tokens != 0 ? options.tokens : config.length > 0 ? config.length : 16;
    require_within("--tokens", tokens, 2, 1 << 16);
    if (config.batch_tokens > 0 && tokens > config.batch_tokens)
      throw UsageError(fmt::format("--batch-tokens: must hold the longest sentence, {} tokens with <eos>; given {}",
                                   tokens, config.batch_tokens));
    shape = config.shape(options.source_words, config.one_vocabulary() ? options.source_words : options.target_words);
    make_model(shape, Scope(store));
    const Index sentences = config.batch_tokens > 0 ? std::max<Index>(config.batch_tokens / tokens, 1) : config.batch;
    const ShardSize shard{(sentences - 1) / config.shards + 1, tokens, tokens};
    size = {shard, config.low_memory ? 1 : config.shards, config.bucket,
            2 * mean_share * static_cast<double>(tokens) * static_cast<double>(pairs)};
    operations = operations_per_token(shape, store, shard);
    peak_bytes = predicted_peak_bytes(shape, store, size);
  }
};

bool has_scores(const RunConfig& config) {
  return config.model.starts_with("bahdanau");
}

void print(const Description& model) {
  std::vector<std::vector<std::string>> table{{"parameter", "shape", "numbers"}};
  for (const Var& parameter : model.store.parameters())
    table.push_back({parameter.leaf()->name, parameter.shape().text(), grouped(parameter.numel())});
  for (const auto& [name, parameter] : model.store.aliases()) table.push_back({name, "is " + parameter, ""});
  const std::string positions = said_positions(model.config);
  fmt::print("{}{}{}, {} source and {} target words\n\n{}", model.config.model, positions.empty() ? "" : ", ",
             positions, grouped(model.shape.source_vocabulary), grouped(model.shape.target_vocabulary),
             format_table(table, "llr"));
  fmt::print("\nparameters  {}\n", grouped(model.store.elements()));
  fmt::print("operations  {:.2f} million a target token of a training step, in matrix products\n",
             model.operations * 1e-6);
  if (has_scores(model.config))
    fmt::print("attention   {}, normalised by {}\n", model.config.score, model.config.normaliser);
  const ShardSize& shard = model.size.shard;
  fmt::print("memory      {:.0f} MB at the peak of training, predicted: {}{} of {} by {} tokens, {} tokens of text\n",
             model.peak_bytes * 1e-6, counted(model.config.shards, "shard"),
             model.config.low_memory ? " one by one" : "", counted(shard.sentences, "sentence"), shard.target,
             grouped(std::llround(model.size.text_tokens)));
}

void describe(const DescribeOptions& options) {
  const Description model(options);
  if (!options.json) return print(model);
  nlohmann::json rows = nlohmann::json::array();
  for (const Var& parameter : model.store.parameters())
    rows.push_back({{"name", parameter.leaf()->name},
                    {"shape", std::vector<Index>(parameter.shape().begin(), parameter.shape().end())}});
  nlohmann::json all{{"rows", rows},
                     {"positions", said_positions(model.config)},
                     {"parameters", model.store.elements()},
                     {"operations_per_token", model.operations},
                     {"peak_bytes", model.peak_bytes}};
  if (has_scores(model.config)) all.update({{"score", model.config.score}, {"normaliser", model.config.normaliser}});
  fmt::print("{}\n", all.dump(2));
}

}  // namespace

void add_describe(CLI::App& program) {
  CLI::App& command = *program.add_subcommand(
      "describe",
      "Print a model's parameters, the operations of a training step and the memory that training will take,\n"
      "before anything runs.");
  const auto options = std::make_shared<DescribeOptions>(command);
  command
      .add_option("--preset", options->preset,
                  fmt::format("One of {} (default: quickstart)", fmt::join(preset_names(), ", ")))
      ->type_name("NAME");
  add_model_options(options->config);
  options->config.group("Size");
  options->config.number("--batch", &RunConfig::batch, "Sentence pairs an update");
  options->config.number("--batch-tokens", &RunConfig::batch_tokens, "Tokens a batch, in place of --batch");
  options->config.number("--pairs", &RunConfig::pairs, "Sentence pairs of the training text");
  options->config.flag("--joint-vocabulary", &RunConfig::joint_vocabulary, "One vocabulary of both sides");
  options->config.number("--shards", &RunConfig::shards, "Parts a batch is cut into");
  options->config.flag("--low-memory", &RunConfig::low_memory, "The shards one by one, with one buffer of gradients");
  add_number(command, "--source-words", options->source_words, "Words of the source (default: 10,000)");
  add_number(command, "--target-words", options->target_words, "Words of the target (default: 10,000)");
  add_number(command, "--tokens", options->tokens,
             "Tokens of the longest sentence with <eos> (default: where the preset cuts, or 16)");
  add_json(command, options->json);
  command.callback([options] { describe(*options); });
}

}  // namespace tapestry
