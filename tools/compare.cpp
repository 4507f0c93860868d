// tapestry compare: is one run better than another, or is it chance?

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "models/bootstrap.h"
#include "models/evaluate.h"
#include "tools/commands.h"
#include "tools/decoding_options.h"
#include "tools/options.h"
#include "tools/table.h"
#include "tools/test_text.h"

namespace tapestry {
namespace {

struct CompareOptions {
  explicit CompareOptions(CLI::App& command) : text(command), decoding(command, false) {}
  std::string a, b;
  ConfigOptions text;
  DecodingFlags decoding;
  BleuFlags bleu;
  std::size_t samples = 1000;
  int threads = 1;
  bool json = false;
};

/// Whether both runs are given the same text; they may cut it into other pieces.
bool same_pairs(const Run& a, const Corpus& of_a, const Run& b, const Corpus& of_b) {
  return std::equal(of_a.pairs.begin(), of_a.pairs.end(), of_b.pairs.begin(), of_b.pairs.end(),
                    [&](const SentencePair& x, const SentencePair& y) {
                      return a.segmenter.words(x.source) == b.segmenter.words(y.source) &&
                             a.segmenter.words(x.target) == b.segmenter.words(y.target);
                    });
}

nlohmann::json to_json(const BootstrapResult& result, const EvaluationOptions& scoring, std::size_t sentences,
                       std::size_t samples) {
  return {{"bleu", {result.score_a, result.score_b}},
          {"bleu_signature", bleu_signature(*scoring.bleu)},
          {"decoding", description(scoring.decoding)},
          {"difference", result.difference},
          {"interval", {result.low, result.high}},
          {"p_value", result.p_value},
          {"sentences", sentences},
          {"samples", samples}};
}

std::string describe(const CompareOptions& options, const EvaluationOptions& scoring, const BootstrapResult& result) {
  return format_table(
      {{"BLEU", fmt::format("{:.2f}", result.score_a), options.a},
       {"", fmt::format("{:.2f}", result.score_b), options.b},
       {"", "", description(scoring.decoding) + "; " + bleu_signature(*scoring.bleu)},
       {"difference", fmt::format("{:+.2f}", result.difference),
        fmt::format("95 % of {} samples lie in [{:+.2f}, {:+.2f}]", options.samples, result.low, result.high)},
       {"p", fmt::format("{:.4f}", result.p_value), "how often chance alone gives a difference of this size"}},
      "lrl");
}

void compare(const CompareOptions& options) {
  require_within("--samples", options.samples, 1, 1'000'000);
  require_named("compare: A must name a run directory", options.a);
  require_named("compare: B must name a run directory", options.b);
  EvaluationOptions scoring{options.decoding.options(), {}};
  const Run a = load_run(options.a), b = load_run(options.b);
  const TestText text = test_text(a, options.text), text_of_b = test_text(b, options.text);
  require(same_pairs(a, text.corpus, b, text_of_b.corpus),
          "compare: both runs must be scored on the same test part; those of {} and {} differ", options.a, options.b);
  scoring.bleu = options.bleu.options(a);
  const std::string signature = bleu_signature(*scoring.bleu), of_the_other = bleu_signature(options.bleu.options(b));
  require(signature == of_the_other, "compare: both runs must be scored alike; BLEU is {} of {}, {} of {}", signature,
          options.a, of_the_other, options.b);
  core::Workers workers(options.threads);
  const Evaluation of_a = evaluate(a, text.corpus, workers, scoring),
                   of_b = evaluate(b, text_of_b.corpus, workers, scoring);
  const BootstrapResult result = paired_bootstrap(of_a.stats, of_b.stats, options.samples);
  if (options.json)
    fmt::print("{}\n", to_json(result, scoring, text.corpus.size(), options.samples).dump(2));
  else
    fmt::print("{}, {}; corpus BLEU-4, 0 to 100, and paired bootstrap\n\n{}",
               counted(static_cast<std::int64_t>(text.corpus.size()), "sentence"), text.description,
               describe(options, scoring, result));
}

}  // namespace

void add_compare(CLI::App& program) {
  CLI::App& command = *program.add_subcommand(
      "compare",
      "Compare two runs on the same test part by corpus BLEU and paired bootstrap resampling (Koehn 2004).\n\n"
      "Without text: the test part that both runs held out.");
  const auto options = std::make_shared<CompareOptions>(command);
  command.add_option("A", options->a, "Run directory")->required();
  command.add_option("B", options->b, "Run directory")->required();
  options->text.group("Text");
  add_text_options(options->text);
  options->bleu.add_to(command);
  add_number(command, "--samples", options->samples, "Resamplings of the test part (default: 1000)");
  add_threads(command, options->threads);
  add_json(command, options->json);
  command.callback([options] { compare(*options); });
}

}  // namespace tapestry
