// tapestry evaluate: how good a run is on text that it has not seen.

#include <fmt/format.h>

#include <algorithm>
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
  BleuFlags bleu;
  std::optional<std::string> hypotheses, alignments, by_length;
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

std::string left_out(const Corpus& corpus) {
  if (corpus.dropped == 0) return "";
  return fmt::format(" and {} with an empty side", counted(static_cast<Index>(corpus.dropped), "pair"));
}

/// The gold links of --alignments, in the direction in which the run translates.
std::vector<Alignment> gold_alignments(const std::string& path, const TestText& text, bool reverse) {
  std::vector<Alignment> gold = read_alignments(path);
  require(gold.size() == text.corpus.size(),
          "{}: must have a line for each sentence pair; it has {}, the text has {}{}", path, gold.size(),
          text.corpus.size(), left_out(text.corpus));
  for (std::size_t i = 0; i < gold.size(); ++i) {
    const SentencePair& pair = text.corpus.pairs[i];
    for (auto& [source, target] : gold[i]) {
      if (reverse) std::swap(source, target);
      require(
          static_cast<std::size_t>(source) < pair.source.size() &&
              static_cast<std::size_t>(target) < pair.target.size(),
          "{}:{}: links must lie within the {} source and {} target tokens; place {} of the source, {} of the target",
          path, i + 1, pair.source.size(), pair.target.size(), source, target);
    }
  }
  return gold;
}

/// BLEU of the sentences whose source has so many tokens.
struct LengthScore {
  Index shortest, longest, sentences;
  BleuScore bleu;
};

/// Reads "1-25,26-30". Errors (UsageError): a range that is none or is empty.
std::vector<LengthScore> parse_lengths(const std::string& text) {
  std::vector<LengthScore> ranges;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto [shortest, longest] = parse_range("--by-length", std::string_view(text).substr(begin, end - begin));
    if (shortest > longest)
      throw UsageError(fmt::format("--by-length: must be LOW-HIGH with LOW <= HIGH; given {}-{}", shortest, longest));
    ranges.push_back({shortest, longest, 0, {}});
    begin = end + 1;
  }
  return ranges;
}

void score_lengths(std::vector<LengthScore>& ranges, const Evaluation& result, const Corpus& corpus) {
  for (LengthScore& range : ranges) {
    BleuStats total;
    for (std::size_t i = 0; i < corpus.size(); ++i) {
      const auto length = static_cast<Index>(corpus.pairs[i].source.size());
      if (length < range.shortest || length > range.longest) continue;
      ++range.sentences;
      total += result.stats[i];
    }
    range.bleu = bleu(total, result.scoring);
  }
}

nlohmann::json to_json(const Evaluation& result, const DecodingOptions& decoding,
                       const std::optional<AlignmentScores>& alignment, const std::vector<LengthScore>& lengths) {
  nlohmann::json json{{"loss", result.loss},
                      {"perplexity", result.perplexity},
                      {"bleu", result.bleu.score},
                      {"bleu_signature", bleu_signature(result.scoring)},
                      {"bleu_precisions", result.bleu.precisions},
                      {"brevity_penalty", result.bleu.bp},
                      {"translation_length", result.bleu.stats.sys_len},
                      {"reference_length", result.bleu.stats.ref_len},
                      {"decoding", description(decoding)},
                      {"book_bleu", result.book_bleu},
                      {"sentences", result.sentences}};
  if (alignment) {
    json["alignment_error_rate"] = alignment->attention;
    json["diagonal_alignment_error_rate"] = alignment->diagonal;
  }
  for (const LengthScore& range : lengths)
    json["by_length"].push_back({{"shortest", range.shortest},
                                 {"longest", range.longest},
                                 {"sentences", range.sentences},
                                 {"bleu", range.bleu.score}});
  return json;
}

std::string describe(const Evaluation& result, const DecodingOptions& decoding,
                     const std::optional<AlignmentScores>& alignment, const std::vector<LengthScore>& lengths) {
  std::vector<std::vector<std::string>> rows{
      {"loss", fmt::format("{:.4f}", result.loss), "nats per target token with <eos>, the true tokens given"},
      {"perplexity", fmt::format("{:.4f}", result.perplexity), "exp(loss): as unsure as among so many equal words"},
      {"BLEU", fmt::format("{:.2f}", result.bleu.score),
       "corpus BLEU-4, 0 to 100, of free translations; " + description(decoding)},
      {"", "", bleu_details(result.bleu)},
      {"", "", bleu_signature(result.scoring)},
      {"book BLEU", fmt::format("{:.4f}", result.book_bleu), "the book's sentence BLEU with k = 2, 0 to 1, on average"},
  };
  for (const LengthScore& range : lengths)
    rows.push_back({fmt::format("BLEU {}-{}", range.shortest, range.longest), fmt::format("{:.2f}", range.bleu.score),
                    fmt::format("of the {} of so many source tokens", counted(range.sentences, "sentence"))});
  if (alignment) {
    rows.push_back({"alignment error", fmt::format("{:.4f}", alignment->attention),
                    "of each target word's most attended source word, the true words given; 0 to 1"});
    rows.push_back({"of the diagonal", fmt::format("{:.4f}", alignment->diagonal),
                    "of the source word at the same relative place"});
  }
  return format_table(rows, "lrl");
}

void evaluate(const EvaluateOptions& given) {
  require_named("evaluate: DIR must name a run directory", given.directory);
  EvaluationOptions options{given.decoding.options(), {}};
  if (given.hypotheses) require_writable_file("--hypotheses", *given.hypotheses);
  if (given.alignments) require_named("--alignments: must name a file", *given.alignments);
  require_other_file("--hypotheses", given.hypotheses.value_or(""), "--alignments", given.alignments.value_or(""));
  std::vector<LengthScore> lengths;
  if (given.by_length) lengths = parse_lengths(*given.by_length);
  const Run run = load_run(given.directory);
  options.bleu = given.bleu.options(run);
  TestText text = test_text(run, given.text);
  if (given.alignments) {
    require(attends(run), "--alignments: the model must have attention; {} is a {}, which has none", given.directory,
            run.config.model);
    require(run.config.subwords == 0,
            "--alignments: links are between words; {} translates pieces of them (--subwords)", given.directory);
    RunConfig config = run.config;
    given.text.apply(config);
    text.alignments = gold_alignments(*given.alignments, text, config.reverse);
  }
  core::Workers workers(given.threads);
  const Evaluation result = evaluate(run, text.corpus, workers, options);
  score_lengths(lengths, result, text.corpus);
  std::optional<AlignmentScores> alignment;
  if (!text.alignments.empty() && attends(run)) alignment = score_alignments(run, text, workers);
  if (given.hypotheses) {
    std::string lines;
    for (const std::string& hypothesis : result.hypotheses) lines += hypothesis + "\n";
    write_atomically(*given.hypotheses, lines);
  }
  if (given.json) {
    fmt::print("{}\n", to_json(result, options.decoding, alignment, lengths).dump(2));
    return;
  }
  fmt::print("{}: {}, {}\n\n{}", given.directory, counted(static_cast<std::int64_t>(result.sentences), "sentence"),
             text.description, describe(result, options.decoding, alignment, lengths));
}

}  // namespace

void add_evaluate(CLI::App& program) {
  CLI::App& command = *program.add_subcommand(
      "evaluate",
      "Score a run: loss and perplexity with the true tokens given, BLEU of its own translations and, on the built-in\n"
      "corpus or with --alignments, how far its attention is from the true word alignment.\n\n"
      "Without text: the test part that the run held out. With --data, or --source and --target: all of that text, or\n"
      "the part of it that --test draws.");
  const auto options = std::make_shared<EvaluateOptions>(command);
  command.add_option("DIR", options->directory, "Run directory")->required();
  options->text.group("Text");
  add_text_options(options->text);
  options->bleu.add_to(command);
  command
      .add_option("--hypotheses", options->hypotheses,
                  "Also write the translations, a line each, their words separated by spaces")
      ->type_name("FILE");
  command
      .add_option("--alignments", options->alignments,
                  "Gold links to score attention by, a line a pair: 0-0 1-2, source and target place from 0")
      ->type_name("FILE");
  command
      .add_option("--by-length", options->by_length,
                  "BLEU also of the sentences of so many source tokens, such as 1-25,26-30")
      ->type_name("RANGES");
  add_threads(command, options->threads);
  add_json(command, options->json);
  command.callback([options] { evaluate(*options); });
}

}  // namespace tapestry
