// tapestry train: from text to a run directory.

#include <fmt/ranges.h>

#include <cmath>
#include <filesystem>

#include "models/resume.h"
#include "models/run_directory.h"
#include "models/trainer.h"
#include "tools/commands.h"
#include "tools/decoding_options.h"
#include "tools/options.h"
#include "tools/progress.h"
#include "tools/table.h"

namespace tapestry {
namespace {

struct TrainOptions {
  explicit TrainOptions(CLI::App& command) : config(command) {}
  ConfigOptions config;
  std::string preset, out, resume;
  bool force = false;
  Index stop_after = 0;
  int threads = 1;
  bool resumes() const { return config.given("--resume"); }
};

void add_optimizer_options(ConfigOptions& options) {
  options.number("--lr", &RunConfig::lr, "Learning rate of Adam; of a schedule that warms up, its peak");
  options.text(
      "--schedule", &RunConfig::schedule, "NAME",
      "constant; linear: falls to zero at the last update; inverse-sqrt: rises from --initial-lr to --lr over\n"
      "--warmup updates, then falls; noam: the same by the paper's formula, --lr-factor * width^-0.5 * ...");
  options.number("--warmup", &RunConfig::warmup, "Updates until the peak of inverse-sqrt and noam");
  options.number("--initial-lr", &RunConfig::initial_lr, "Where the rate of inverse-sqrt starts");
  options.number("--lr-factor", &RunConfig::lr_factor, "What noam multiplies its rate by");
  options.number("--beta1", &RunConfig::beta1, "Adam's decay of the mean of gradients");
  options.number("--beta2", &RunConfig::beta2, "Adam's decay of the mean of their squares");
  options.number("--epsilon", &RunConfig::epsilon, "Adam's addition to the root of that");
  options.number("--weight-decay", &RunConfig::weight_decay, "Share of the rate by which weights shrink (AdamW)");
  options.number("--label-smoothing", &RunConfig::label_smoothing,
                 "Share of the target's probability that is spread over all words");
}

void add_recipe_options(ConfigOptions& options) {
  options.group("Recipe");
  options.number("--epochs", &RunConfig::epochs, "Times to go through the training text");
  options.number("--updates", &RunConfig::updates, "Updates at most; 0: what the epochs give");
  options.number("--batch", &RunConfig::batch, "Sentence pairs of a batch");
  options.number("--batch-tokens", &RunConfig::batch_tokens,
                 "Tokens of a batch instead, padding counted, of the larger of the two sides; 0: count sentences");
  options.number("--accumulate", &RunConfig::accumulate, "Batches of an update");
  add_optimizer_options(options);
  options.number("--clip", &RunConfig::clip, "Largest norm of the gradient; 0: none");
  options.number("--min-count", &RunConfig::min_count, "Rarer words of the training text are <unk>");
  options.number("--seed", &RunConfig::seed, "Seed of the parameters, of the order of the text and of dropout");
  options.number("--shards", &RunConfig::shards, "Parts a batch is cut into, which threads work through side by side");
  options.flag("--low-memory", &RunConfig::low_memory,
               "Work through the shards one by one with one buffer of gradients: less memory, slower, and rounded\n"
               "differently");
  options.flag("--reference", &RunConfig::reference,
               "Compute with plain ops instead of fused ones: slower, with the same result");
}

void add_validation_options(ConfigOptions& options) {
  options.group("Validation and checkpoints");
  options.number("--validate-every", &RunConfig::validate_every, "Updates between validations; 0: an epoch");
  options.number("--valid-bleu", &RunConfig::valid_bleu, "Translate only the first N sentences each time; 0: all");
  options.number("--patience", &RunConfig::patience,
                 "End after so many validations without a lower loss; 0: never before the last update");
  options.number("--keep", &RunConfig::keep, "Checkpoints of ends of epochs to keep; 0: the last one only");
  options.number("--checkpoint-every", &RunConfig::checkpoint_every,
                 "Updates between further checkpoints, to resume from after a kill; 0: epochs only");
}

/// What is trained by without further words: the quickstart on the built-in corpus; on a text of the user's own what
/// suits a whole file, but with nothing held out.
RunConfig base_config(const TrainOptions& options) {
  if (!options.preset.empty()) return preset(options.preset);
  RunConfig named_nothing;
  options.config.apply(named_nothing);
  if (named_nothing.builtin()) return preset("quickstart");
  RunConfig config = preset("whole-file");
  config.preset.clear();
  config.valid = config.test = 0;
  return config;
}

RunConfig configure(const TrainOptions& options, RunConfig config) {
  options.config.apply(config);
  // The run must find its text again from wherever `evaluate` is called.
  const auto keep = [](const char* option, std::string& path) {
    if (!path.empty()) path = std::filesystem::absolute(path).lexically_normal().string();
    require_utf8_path(option, path);
  };
  keep("--data:", config.data);
  keep("--source:", config.source);
  keep("--target:", config.target);
  for (std::string& path : config.valid_files) keep("--valid:", path);
  for (std::string& path : config.test_files) keep("--test:", path);
  validate(config);  // before a file is read
  if (!options.resumes() && !options.config.given("--tokenizer")) {
    config.tokenizer = suitable_tokenizer(config);
    validate(config);
  }
  return config;
}

std::string describe_text(const RunConfig& config) {
  if (config.builtin()) return fmt::format("the built-in corpus (seed {})", config.split_seed);
  return config.data.empty() ? config.source + " and " + config.target : config.data;
}

std::string describe_tokens(const RunConfig& config) {
  if (config.subwords > 0) return fmt::format("cut into {} learnt from it", counted(config.subwords, "piece"));
  return config.tokenizer == "book" ? "split into words" : "tokenised already: split at spaces only";
}

std::string describe_words(const Run& run) {
  const auto words = [](const Vocabulary& side) { return grouped(static_cast<Index>(side.size())); };
  if (run.config.one_vocabulary()) return fmt::format("{} in one vocabulary of both sides", words(run.source));
  return fmt::format("{} of the source, {} of the target", words(run.source), words(run.target));
}

std::string describe_batches(const RunConfig& config, double padding) {
  std::string text = config.batch_tokens > 0 ? fmt::format("batches of {} tokens", grouped(config.batch_tokens))
                                             : fmt::format("batches of {}", config.batch);
  if (config.accumulate > 1) text += fmt::format(", {} an update", config.accumulate);
  return text + fmt::format(", {:.1f} % padding", 100 * padding);
}

std::string describe_shards(const RunConfig& config) {
  return counted(config.shards, "shard") + (config.low_memory ? " one by one" : "");
}

void describe(const Run& run, const RunData& data, const TrainingPlan& plan, int threads) {
  const RunConfig& config = run.config;
  const auto pairs = [](const Corpus& part) { return grouped(static_cast<Index>(part.size())); };
  fmt::print("text    {}{}, {}\n", describe_text(config), config.reverse ? ", reversed" : "", describe_tokens(config));
  const std::size_t dropped = data.train.dropped + data.valid.dropped + data.test.dropped;
  fmt::print("pairs   {} for training, {} for validation, {} for the test{}\n", pairs(data.train), pairs(data.valid),
             pairs(data.test),
             dropped > 0 ? fmt::format("; {} with an empty side left out", grouped(static_cast<Index>(dropped))) : "");
  fmt::print("words   {}\n", describe_words(run));
  const std::string sizes =
      config.model == "transformer"
          ? fmt::format("width {}, feed-forward {}, {}, {}", config.width, config.feed_forward,
                        counted(config.heads, "head"), said_positions(config))
          : fmt::format("{} cells{}, embedding {}, hidden {}", config.cell,
                        config.bidirectional ? ", encoder in both directions" : "", config.embed, config.hidden);
  fmt::print("model   {}, {}, {}: {}\n", config.model, sizes, counted(config.layers, "layer"),
             counted(run.store->elements(), "parameter"));
  const Schedule::Peak peak = plan.schedule.peak();
  fmt::print("recipe  {} of {}{}, {}; seed {}, {}, {}\n", counted(config.epochs, "epoch"),
             counted(plan.epoch_updates, "update"),
             config.updates > 0 ? fmt::format(", {} at most", counted(config.updates, "update")) : "",
             describe_batches(config, plan.padding), config.seed, describe_shards(config), counted(threads, "thread"));
  fmt::print("rate    {}, peak rate {:.3g} at update {}\n", config.schedule, peak.rate, peak.update);
  if (!plan.valid.empty())
    fmt::print("BLEU    {}; {}\n", description(DecodingOptions()), bleu_signature(bleu_options(run)));
  std::fflush(stdout);
}

void describe(const TrainingSummary& summary, const std::string& directory) {
  if (summary.stopped.empty()) {
    fmt::print("stopped after {}; tapestry train --resume {} goes on\n", counted(summary.updates, "update"), directory);
    return;
  }
  fmt::print("done    {}{} in {} at {} target tokens a second, {:.0f} MB of memory at most\n",
             counted(summary.updates, "update"),
             summary.stopped == "patience" ? ", for the validation loss did not fall any more," : "",
             clock_time(summary.seconds), grouped(std::llround(summary.tokens_per_second)),
             static_cast<double>(summary.peak_bytes) / 1e6);
  fmt::print("loss    {:.4f} nats per target token in the last epoch (dropout on)", summary.train_loss);
  if (summary.valid_loss) fmt::print(", {:.4f} at best on the validation part", *summary.valid_loss);
  if (summary.valid_bleu) fmt::print(", BLEU {:.2f} on all of it", *summary.valid_bleu);
  fmt::print("\nrun     {}\n", directory);
}

void check(const TrainOptions& options) {
  const auto usage = [](bool holds, const char* message) {
    if (!holds) throw UsageError(message);
  };
  usage(options.config.given("--out") || options.resumes(), "--out is required, or --resume");
  if (options.resumes())
    require_named("--resume: must name a run directory", options.resume);
  else
    require_named("--out: must name a directory", options.out);
  usage(!options.resumes() || (options.out.empty() && options.preset.empty() && !options.force),
        "--resume: cannot be given with --out, --preset or --force");
  if (options.stop_after < 0)
    throw UsageError(fmt::format("--stop-after: must be at least 0; given {}", options.stop_after));
}

Run make_run(const TrainOptions& options, RunConfig config, const RunData& data) {
  if (options.resumes()) return resumable_run(options.resume, config, data);
  auto [source, target] = vocabularies(config, data);
  Run run(std::move(config), std::move(source), std::move(target));
  run.segmenter = data.segmenter;
  return run;
}

/// What was asked for and has no effect.
void warn_of_unheeded(const ConfigOptions& options, const RunConfig& config) {
  const auto warn = [&](bool unheeded, std::initializer_list<const char*> names, const std::string& why) {
    for (const char* name : names)
      if (unheeded && options.given(name)) fmt::print("tapestry: warning: {} has no effect: {}\n", name, why);
  };
  const bool transformer = config.model == "transformer", noam = config.schedule == "noam";
  const std::string model = "the model is " + config.model, schedule = "the schedule is " + config.schedule;
  warn(transformer, {"--embed", "--hidden", "--cell"}, model);
  warn(transformer || config.model == "bahdanau-paper", {"--bidirectional"}, model);
  warn(!transformer,
       {"--ffn", "--heads", "--norm", "--final-norm", "--attention-dropout", "--ffn-dropout", "--tie", "--init",
        "--positions", "--residual"},
       model);
  warn(!transformer, {"--max-positions"}, model);
  warn(transformer && config.positions != "learned", {"--max-positions"}, "the positions are " + config.positions);
  warn(!transformer && !noam, {"--width"}, model);
  warn(transformer || config.model == "seq2seq", {"--score", "--normaliser"}, model);
  warn(config.schedule != "inverse-sqrt" && !noam, {"--warmup"}, schedule);
  warn(config.schedule != "inverse-sqrt", {"--initial-lr"}, schedule);
  warn(!noam, {"--lr-factor"}, schedule);
  warn(noam, {"--lr"}, schedule);
  warn(config.batch_tokens > 0, {"--batch"}, "batches are cut by --batch-tokens");
  warn(config.subwords > 0, {"--min-count"}, "all pieces of --subwords are kept");
}

/// Everything that can be wrong with what the user gave shows before the run directory is touched.
void train(const TrainOptions& options) {
  check(options);
  const bool resume = options.resumes();
  const RunConfig base = resume ? load_config(options.resume) : base_config(options);
  RunConfig config = configure(options, base);
  warn_of_unheeded(options.config, config);
  if (resume) require_same_training(base, config);
  const RunData data = load_data(config);
  Run run = make_run(options, std::move(config), data);
  core::Workers workers(options.threads);
  const TrainingPlan plan(run, data);
  RunDirectory directory = resume ? RunDirectory::resume(options.resume) : RunDirectory(options.out, options.force);
  describe(run, data, plan, options.threads);
  ProgressDisplay display;
  const TrainingSummary summary =
      train(run, data, plan, workers, directory.path(), display, {resume, options.stop_after});
  if (!summary.stopped.empty()) directory.finish();
  // Called as the user did, unless it is another one by now.
  const std::string& given = resume ? options.resume : options.out;
  std::error_code gone;
  describe(summary, std::filesystem::equivalent(given, directory.path(), gone) ? given : directory.path());
}

}  // namespace

void add_train(CLI::App& program) {
  CLI::App& command = *program.add_subcommand(
      "train",
      "Train a model and leave it in a run directory.\n\n"
      "Without --preset and text: preset quickstart on the built-in corpus. With text of your own: the recipe of\n"
      "preset whole-file, but nothing is held out unless --valid or --test ask for it. Options override the preset.");
  const auto options = std::make_shared<TrainOptions>(command);
  command.add_option("--out", options->out, "Run directory to make")->type_name("DIR");
  command.add_flag("--force", options->force, "Replace the run in --out");
  command
      .add_option("--resume", options->resume, "Run directory of a training that was stopped or killed: go on with it")
      ->type_name("DIR");
  add_number(command, "--stop-after", options->stop_after,
             "Stop after so many further updates, to be resumed; 0: do not");
  command
      .add_option("--preset", options->preset,
                  fmt::format("Where to start from: one of {}", fmt::join(preset_names(), ", ")))
      ->type_name("NAME");
  options->config.group("Text");
  add_text_options(options->config);
  options->config.text(
      "--tokenizer", &RunConfig::tokenizer, "NAME",
      "book: splits words from punctuation, letters become small; spaces: the text is tokenised already,\n"
      "the default where it has the joiner \"@@ \"");
  options->config.number("--subwords", &RunConfig::subwords,
                         "Learn N pieces from the plain text of both sides, with SentencePiece; 0: none");
  options->config.flag("--joint-vocabulary", &RunConfig::joint_vocabulary, "One vocabulary of both sides");
  options->config.number("--length", &RunConfig::length,
                         "Tokens of a sentence, <eos> included; longer ones are cut before it; 0: no limit");
  options->config.part("--valid", &RunConfig::valid, &RunConfig::valid_files,
                       "Validation part, in the same way; the best model is the one of lowest loss on it");
  add_model_options(options->config);
  add_recipe_options(options->config);
  add_validation_options(options->config);
  add_threads(command, options->threads);
  command.callback([options] { train(*options); });
}

}  // namespace tapestry
