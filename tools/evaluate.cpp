// tapestry evaluate: how good a run is on text that it has not seen.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "models/evaluate.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/table.h"
#include "tools/test_text.h"

namespace tapestry {
namespace {

struct EvaluateOptions {
  explicit EvaluateOptions(CLI::App& command) : text(command) {}
  std::string directory;
  ConfigOptions text;
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

nlohmann::json to_json(const Evaluation& result, const std::optional<AlignmentScores>& alignment) {
  nlohmann::json json{{"loss", result.loss},           {"perplexity", result.perplexity},
                      {"bleu", result.bleu.score},     {"bleu_signature", bleu_signature(word_bleu())},
                      {"book_bleu", result.book_bleu}, {"sentences", result.sentences}};
  if (alignment) {
    json["alignment_error_rate"] = alignment->attention;
    json["diagonal_alignment_error_rate"] = alignment->diagonal;
  }
  return json;
}

std::string bleu_details(const BleuScore& bleu) {
  const double ratio = static_cast<double>(bleu.stats.sys_len) / static_cast<double>(bleu.stats.ref_len);
  return fmt::format("precisions {:.1f}/{:.1f}/{:.1f}/{:.1f}, brevity penalty {:.3f}, length ratio {:.3f}",
                     bleu.precisions[0], bleu.precisions[1], bleu.precisions[2], bleu.precisions[3], bleu.bp, ratio);
}

std::string describe(const Evaluation& result, const std::optional<AlignmentScores>& alignment) {
  std::vector<std::vector<std::string>> rows{
      {"loss", fmt::format("{:.4f}", result.loss), "nats per target token with <eos>, the true tokens given"},
      {"perplexity", fmt::format("{:.4f}", result.perplexity), "exp(loss): as unsure as among so many equal words"},
      {"BLEU", fmt::format("{:.2f}", result.bleu.score), "corpus BLEU-4, 0 to 100, of greedy translations"},
      {"", "", bleu_details(result.bleu)},
      {"", "", bleu_signature(word_bleu())},
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

void evaluate(const EvaluateOptions& options) {
  const Run run = load_run(options.directory);
  const TestText text = test_text(run.config, options.text);
  core::Workers workers(options.threads);
  const Evaluation result = evaluate(run, text.corpus, workers);
  std::optional<AlignmentScores> alignment;
  if (!text.alignments.empty() && attends(run)) alignment = score_alignments(run, text, workers);
  if (options.json) {
    fmt::print("{}\n", to_json(result, alignment).dump(2));
    return;
  }
  fmt::print("{}: {}, {}\n\n{}", options.directory, counted(static_cast<std::int64_t>(result.sentences), "sentence"),
             text.description, describe(result, alignment));
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
  add_threads(command, options->threads);
  add_json(command, options->json);
  command.callback([options] { evaluate(*options); });
}

}  // namespace tapestry
