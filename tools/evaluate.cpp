// tapestry evaluate: how good a run is on text that it has not seen.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "core/files.h"
#include "models/evaluate.h"
#include "tools/commands.h"
#include "tools/decoding_options.h"
#include "tools/options.h"
#include "tools/table.h"
#include "tools/test_text.h"

namespace tapestry {
namespace {

struct EvaluateOptions {
  explicit EvaluateOptions(CLI::App& command) : text(command), decoding(command, false) {}
  std::string directory;
  ConfigOptions text;
  DecodingFlags decoding;
  BleuOptions bleu = word_bleu();
  std::optional<std::string> hypotheses;
  int threads = 1;
  bool json = false;
};

/// Alignment error rates against the gold alignment.
struct AlignmentScores {
  double attention, diagonal;
};

AlignmentScores score_alignments(const Run& run, const TestText& text, core::Workers& workers) {
  std::vector<Alignment> diagonal;
  for (const SentencePair& pair : text.corpus.pairs)
    diagonal.push_back(diagonal_alignment(pair.source.size(), pair.target.size()));
  return {alignment_error_rate(attention_alignment(run, text.corpus, workers), text.alignments),
          alignment_error_rate(diagonal, text.alignments)};
}

nlohmann::json to_json(const Evaluation& result, const EvaluationOptions& options,
                       const std::optional<AlignmentScores>& alignment) {
  nlohmann::json json{{"loss", result.loss},
                      {"perplexity", result.perplexity},
                      {"bleu", result.bleu.score},
                      {"bleu_signature", bleu_signature(options.bleu)},
                      {"bleu_precisions", result.bleu.precisions},
                      {"brevity_penalty", result.bleu.bp},
                      {"translation_length", result.bleu.stats.sys_len},
                      {"reference_length", result.bleu.stats.ref_len},
                      {"decoding", description(options.decoding)},
                      {"book_bleu", result.book_bleu},
                      {"sentences", result.sentences}};
  if (alignment) {
    json["alignment_error_rate"] = alignment->attention;
    json["diagonal_alignment_error_rate"] = alignment->diagonal;
  }
  return json;
}

std::string describe(const Evaluation& result, const EvaluationOptions& options,
                     const std::optional<AlignmentScores>& alignment) {
  std::vector<std::vector<std::string>> rows{
      {"loss", fmt::format("{:.4f}", result.loss), "nats per target token with <eos>, the true tokens given"},
      {"perplexity", fmt::format("{:.4f}", result.perplexity), "exp(loss): as unsure as among so many equal words"},
      {"BLEU", fmt::format("{:.2f}", result.bleu.score),
       "corpus BLEU-4, 0 to 100, of free translations; " + description(options.decoding)},
      {"", "", bleu_details(result.bleu)},
      {"", "", bleu_signature(options.bleu)},
      {"book BLEU", fmt::format("{:.4f}", result.book_bleu), "the book's sentence BLEU with k = 2, 0 to 1, on average"},
  };
  if (alignment) {
    rows.push_back({"alignment error", fmt::format("{:.4f}", alignment->attention),
                    "of each target word's most attended source word, the true words given; 0 to 1"});
    rows.push_back({"of the diagonal", fmt::format("{:.4f}", alignment->diagonal),
                    "of the source word at the same relative place"});
  }
  return format_table(rows, "lrl");
}

void evaluate(const EvaluateOptions& given) {
  const EvaluationOptions options{given.decoding.options(), given.bleu};
  if (given.hypotheses) require_writable_folder("--hypotheses", *given.hypotheses);
  const Run run = load_run(given.directory);
  const TestText text = test_text(run.config, given.text);
  core::Workers workers(given.threads);
  const Evaluation result = evaluate(run, text.corpus, workers, options);
  std::optional<AlignmentScores> alignment;
  if (!text.alignments.empty() && attends(run)) alignment = score_alignments(run, text, workers);
  if (given.hypotheses) {
    std::string lines;
    for (const std::string& hypothesis : result.hypotheses) lines += hypothesis + "\n";
    write_atomically(*given.hypotheses, lines);
  }
  if (given.json) {
    fmt::print("{}\n", to_json(result, options, alignment).dump(2));
    return;
  }
  fmt::print("{}: {}, {}\n\n{}", given.directory, counted(static_cast<std::int64_t>(result.sentences), "sentence"),
             text.description, describe(result, options, alignment));
}

}  // namespace

void add_evaluate(CLI::App& program) {
  CLI::App& command = *program.add_subcommand(
      "evaluate",
      "Score a run: loss and perplexity with the true tokens given, BLEU of its own translations and, on the built-in\n"
      "corpus, how far its attention is from the true word alignment.\n\n"
      "Without text: the test part that the run held out. With --data, or --source and --target: all of that text, or\n"
      "the part of it that --test draws.");
  const auto options = std::make_shared<EvaluateOptions>(command);
  command.add_option("DIR", options->directory, "Run directory")->required();
  options->text.group("Text");
  add_text_options(options->text);
  add_bleu_options(command, options->bleu);
  command
      .add_option("--hypotheses", options->hypotheses,
                  "Also write the translations, a line each, their words separated by spaces")
      ->type_name("FILE");
  add_threads(command, options->threads);
  add_json(command, options->json);
  command.callback([options] { evaluate(*options); });
}

}  // namespace tapestry
