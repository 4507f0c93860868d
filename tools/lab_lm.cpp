// tapestry lab lm: a language model, by character or by word, on any text.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "models/builtin_corpus.h"
#include "models/evaluate.h"
#include "models/language_model.h"
#include "models/text_file.h"
#include "models/text_units.h"
#include "tools/lab.h"
#include "tools/line_chart.h"
#include "tools/options.h"
#include "tools/table.h"

namespace tapestry {
namespace {

struct LmLab {
  std::string data, side = "french", unit = "char", prompt, positions = "sinusoidal", out;
  Index width = 64, heads = 4, layers = 2, context = 64, batch = 32, sample = 200, min_count = 1, every = 0;
  double dropout = 0;
  FitOptions fit;
  Sampling sampling{0.8, 0, 1, 0};
  int threads = 1;
  bool json = false;
};

void check(const LmLab& lab) {
  require_one_of("--unit", lab.unit, text_unit_names());
  require_one_of("--side", lab.side, {"english", "french"});
  require_one_of("--positions", lab.positions, position_kinds());
  require_within("--width", lab.width, 1, 1024);
  require_within("--heads", lab.heads, 1, 1024);
  const bool in_pairs = lab.positions == "sinusoidal";
  if (lab.width % lab.heads != 0 || (in_pairs && lab.width % 2 != 0))
    throw UsageError(fmt::format("--width: must be {}a multiple of the heads; given {} and {} heads",
                                 in_pairs ? "even, for the positions, and " : "", lab.width, lab.heads));
  require_within("--layers", lab.layers, 1, 16);
  require_within("--context", lab.context, 1, 4096);
  require_within("--batch", lab.batch, 1, 4096);
  require_within("--sample", lab.sample, 0, 100'000);
  require_within("--min-count", lab.min_count, 1, 1 << 30);
  require_within("--every", lab.every, 0, 1 << 30);
  require_within("--dropout", lab.dropout, 0, 1);
  validate(lab.fit);
  DecodingOptions decoding;
  decoding.sampling = lab.sampling;
  validate(decoding);
  require_other_file("--out", lab.out, "--data", lab.data);
  try {
    text_units(lab.prompt, lab.unit);
  } catch (const Error& error) {
    throw UsageError(fmt::format("--prompt: {}", error.what()));
  }
}

std::vector<std::string> lines_of(const LmLab& lab) {
  if (!lab.data.empty()) return read_lines(lab.data);
  constexpr std::size_t sentences = 5000;
  std::vector<std::string> lines;
  for (const AlignedPair& pair : builtin_corpus(sentences, 1, 0, 0).train)
    lines.push_back(detokenize(lab.side == "french" ? pair.target : pair.source));
  return lines;
}

LanguageModelShape shape_of(const LmLab& lab, const UnitText& text) {
  TransformerOptions options{lab.width, 4 * lab.width, lab.heads, lab.layers, true, true};
  options.gelu = true;
  options.dropout = lab.dropout;
  return {static_cast<Index>(text.vocabulary.size()), options, {lab.positions, lab.context}, true};
}

// What the training looked like, after each so many updates.
struct Curve {
  std::vector<double> updates, train, held_out;
};

Curve train(const LmLab& lab, const UnitText& text, const LanguageModel& model, const ParameterStore& store,
            core::Workers& workers) {
  const auto loss = [&](const Batch& batch, const Pass& pass) { return language_model_loss(model, batch, pass); };
  const auto context = static_cast<std::size_t>(lab.context);
  const std::vector<Example> held_out = all_windows(text.held_out, context);
  const Index every = lab.every > 0 ? lab.every : (lab.fit.updates + 7) / 8;
  Curve curve;
  double nll = 0;
  Index tokens = 0;
  if (!lab.json) fmt::print("updates  training  held out  perplexity\n");
  fit(
      loss, store, workers, lab.fit,
      [&](Index update) { return random_windows(text.train, context, lab.batch, lab.fit.seed, update); },
      [&](Index update, const UpdateResult& result) {
        nll += result.nll;
        tokens += result.tokens;
        if (update % every != 0 && update != lab.fit.updates) return;
        curve.updates.push_back(static_cast<double>(update));
        curve.train.push_back(nll / static_cast<double>(tokens));
        curve.held_out.push_back(mean_loss(loss, held_out, workers));
        nll = 0;
        tokens = 0;
        if (lab.json) return;
        fmt::print("{:7}  {:8.4f}  {:8.4f}  {:10.2f}\n", update, curve.train.back(), curve.held_out.back(),
                   std::exp(curve.held_out.back()));
        std::fflush(stdout);
      });
  return curve;
}

// The text that the model goes on with: the prompt as the beginning of a line.
TokenIds prompt_of(const LmLab& lab, const UnitText& text) {
  TokenIds prompt{Vocabulary::eos};
  for (const std::int32_t id : text.vocabulary.ids(text_units(lab.prompt, lab.unit))) prompt.push_back(id);
  return prompt;
}

void run(const LmLab& lab) {
  check(lab);
  const UnitText text = unit_text(lines_of(lab), lab.unit, 0.1, static_cast<std::size_t>(lab.min_count));
  if (text.train.size() <= static_cast<std::size_t>(lab.context))
    throw UsageError(fmt::format("--context: must be less than the {} {}s of the training text; given {}",
                                 text.train.size(), lab.unit, lab.context));
  ParameterStore store(DType::f32, lab.fit.seed);
  const LanguageModel model(shape_of(lab, text), Scope(store));
  core::Workers workers(lab.threads);
  const auto number = [](std::size_t n) { return grouped(static_cast<std::int64_t>(n)); };
  const double unigram = unigram_loss(text);
  if (!lab.json)
    fmt::print("{} {}s to train on, {} held out, {} different; {}\n{:.4f} nats a {} by frequency alone\n\n",
               number(text.train.size()), lab.unit, number(text.held_out.size()), number(text.vocabulary.size()),
               counted(store.elements(), "parameter"), unigram, lab.unit);
  const Curve curve = train(lab, text, model, store, workers);
  const std::string said = spell(continue_text(model, prompt_of(lab, text), lab.sample, lab.context, lab.sampling),
                                 text.vocabulary, lab.unit);
  if (!lab.out.empty())
    write_atomically(
        lab.out,
        line_charts_svg({{"Language model by " + lab.unit,
                          "updates",
                          "nats a " + lab.unit,
                          {{"training", curve.updates, curve.train}, {"held out", curve.updates, curve.held_out}}}}));
  if (!lab.json) {
    fmt::print("\n{}{}{}\n", lab.prompt, lab.unit == "word" && !lab.prompt.empty() ? " " : "", said);
    return;
  }
  const nlohmann::json json{{"unit", lab.unit},
                            {"train_units", text.train.size()},
                            {"held_out_units", text.held_out.size()},
                            {"vocabulary", text.vocabulary.size()},
                            {"parameters", store.elements()},
                            {"unigram_loss", unigram},
                            {"updates", curve.updates},
                            {"train_loss", curve.train},
                            {"held_out_loss", curve.held_out},
                            {"perplexity", std::exp(curve.held_out.back())},
                            {"sample", said}};
  fmt::print("{}\n", json.dump(2));
}

void add_model(CLI::App& command, LmLab& lab) {
  add_number(command, "--width", lab.width, fmt::format("Width of the model (default: {})", lab.width));
  add_number(command, "--heads", lab.heads, fmt::format("Heads; they divide the width (default: {})", lab.heads));
  add_number(command, "--layers", lab.layers, fmt::format("Layers (default: {})", lab.layers));
  add_number(command, "--dropout", lab.dropout, "Share of the activations dropped (default: 0)");
  command
      .add_option("--positions", lab.positions,
                  fmt::format("One of {} (default: {})", fmt::join(position_kinds(), ", "), lab.positions))
      ->type_name("NAME");
  add_number(command, "--context", lab.context, fmt::format("Units that it reads (default: {})", lab.context));
  add_number(command, "--batch", lab.batch, fmt::format("Windows of the text an update (default: {})", lab.batch));
  add_fit_options(command, lab.fit, lab.threads);
  add_number(command, "--every", lab.every, "Updates between two looks at the held-out text (default: an eighth)");
}

void add_samples(CLI::App& command, LmLab& lab) {
  command.add_option("--prompt", lab.prompt, "Beginning of a line that the sample goes on with")->type_name("TEXT");
  add_number(command, "--sample", lab.sample, fmt::format("Units to draw (default: {})", lab.sample));
  add_number(command, "--temperature", lab.sampling.temperature,
             fmt::format("Divides the logits of a draw (default: {})", lab.sampling.temperature));
  add_number(command, "--top-k", lab.sampling.top_k, "Draw from the K most probable; 0: from all (default)");
  add_number(command, "--sample-seed", lab.sampling.seed, "Seed of the draws (default: 1)");
}

}  // namespace

void add_lab_lm(CLI::App& lab) {
  CLI::App& command = *lab.add_subcommand(
      "lm",
      "Train a language model, a Transformer that is all decoder, on a text and let it write. The last tenth of the\n"
      "text is held out. Without --data the text is one side of the built-in corpus.");
  const auto options = std::make_shared<LmLab>();
  options->fit.updates = 600;
  options->fit.lr = 0.005;
  command.add_option("--data", options->data, "Text in UTF-8")->type_name("FILE");
  command.add_option("--side", options->side, "Of the built-in corpus: english or french (default)")->type_name("NAME");
  command.add_option("--unit", options->unit, "What is said at a time: char (default) or word")->type_name("NAME");
  add_number(command, "--min-count", options->min_count, "Rarer units are <unk> (default: 1)");
  add_model(command, *options);
  add_samples(command, *options);
  add_json(command, options->json);
  add_picture(command, options->out);
  command.callback([options, &command] {
    if (command.count("--data") > 0) require_named("--data: must name a file", options->data);
    run(*options);
  });
}

}  // namespace tapestry
