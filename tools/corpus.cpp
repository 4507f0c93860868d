// tapestry corpus: the built-in corpus and the tasks on sequences, to look at or to pipe into something else.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "models/builtin_corpus.h"
#include "models/evaluate.h"
#include "models/sequence_task.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/table.h"

namespace tapestry {
namespace {

struct CorpusCommand {
  std::optional<std::string> task, length;  // without a task: the built-in corpus
  Index pairs = 0;
  std::uint64_t seed = 0;
  bool alignments = false, difficulty = false, json = false;
};

void print_pairs(const std::vector<AlignedPair>& pairs, bool alignments) {
  for (const AlignedPair& pair : pairs) {
    fmt::print("{}\t{}", fmt::join(pair.source, " "), fmt::join(pair.target, " "));
    if (alignments) {
      std::vector<std::string> links;
      for (const auto& [source, target] : pair.alignment) links.push_back(fmt::format("{}-{}", source, target));
      fmt::print("\t{}", fmt::join(links, " "));
    }
    fmt::print("\n");
  }
}

double word_by_word_bleu(const Difficulty& figures) {
  BleuStats stats;
  for (std::size_t i = 0; i < figures.references.size(); ++i)
    stats += bleu_stats(figures.word_by_word[i], figures.references[i]);
  return bleu(stats, word_bleu()).score;
}

void print_difficulty(const BuiltinCorpus& corpus, const CorpusCommand& options) {
  const Difficulty figures = difficulty(corpus);
  constexpr std::size_t draws = 200'000;
  const double bleu = word_by_word_bleu(figures), distinct = effective_sentences(draws, options.seed);
  if (options.json) {
    const nlohmann::json json{{"source_forms", figures.source_forms},
                              {"target_forms", figures.target_forms},
                              {"source_mean_length", figures.source_mean_length},
                              {"target_mean_length", figures.target_mean_length},
                              {"source_max_length", figures.source_max_length},
                              {"target_max_length", figures.target_max_length},
                              {"unseen_share", figures.unseen_share},
                              {"word_by_word_bleu", bleu},
                              {"diagonal_alignment_error_rate", figures.diagonal_error},
                              {"effective_sentences", distinct}};
    fmt::print("{}\n", json.dump(2));
    return;
  }
  const auto number = [](std::size_t n) { return grouped(static_cast<std::int64_t>(n)); };
  fmt::print(
      "{}",
      format_table({{"", "English", "French", ""},
                    {"word forms", number(figures.source_forms), number(figures.target_forms), "in all parts together"},
                    {"mean length", fmt::format("{:.2f}", figures.source_mean_length),
                     fmt::format("{:.2f}", figures.target_mean_length), "tokens, punctuation included"},
                    {"longest", number(figures.source_max_length), number(figures.target_max_length), "tokens"},
                    {"distinct sentences", std::isfinite(distinct) ? number(static_cast<std::size_t>(distinct)) : "",
                     "", fmt::format("so many equally likely ones would repeat as often in {} draws", number(draws))},
                    {"unseen combinations", fmt::format("{:.1f} %", 100 * figures.unseen_share), "",
                     "test sentences with an adjective-noun or verb-object pair that training never shows"},
                    {"word-by-word BLEU", "", fmt::format("{:.2f}", bleu),
                     "of dictionary translation in English order, 0 to 100"},
                    {"diagonal's error", "", fmt::format("{:.4f}", figures.diagonal_error),
                     "alignment error rate of the same relative place, 0 to 1"}},
                   "lrrl"));
}

void print_task(const CorpusCommand& options) {
  if (options.difficulty || options.json) throw UsageError("--difficulty: is of the built-in corpus; --task is given");
  SequenceTask task;
  task.name = *options.task;
  task.seed = options.seed;
  task.pairs = options.pairs;
  if (options.length) std::tie(task.shortest, task.longest) = parse_range("--length", *options.length);
  print_pairs(sequence_task(task), options.alignments);
}

void print_corpus(const CorpusCommand& options) {
  if (options.task) return print_task(options);
  if (options.length) throw UsageError("--length: goes with --task; sentences of the built-in corpus have theirs");
  if (options.json && !options.difficulty) throw UsageError("--json: goes with --difficulty; pairs are plain lines");
  if (options.alignments && options.difficulty) throw UsageError("--alignments: cannot be given with --difficulty");
  require_within("--pairs", options.pairs, 1, static_cast<Index>(most_builtin_pairs));
  const RunConfig quickstart = preset("quickstart");
  const BuiltinCorpus corpus =
      builtin_corpus(static_cast<std::size_t>(options.pairs), options.seed, static_cast<std::size_t>(quickstart.valid),
                     static_cast<std::size_t>(quickstart.test));
  if (options.difficulty)
    print_difficulty(corpus, options);
  else
    print_pairs(corpus.train, options.alignments);
}

}  // namespace

void add_corpus(CLI::App& program) {
  CLI::App& command = *program.add_subcommand(
      "corpus",
      "Print the training part of the built-in English-French corpus: a pair a line, English, tab, French.\n\n"
      "With --task: pairs of sequences of the numbers 0 to 49, the second being the first in another order.");
  const auto options = std::make_shared<CorpusCommand>();
  const RunConfig quickstart = preset("quickstart");
  options->seed = quickstart.split_seed;
  command.add_option("--task", options->task, fmt::format("One of {}", fmt::join(sequence_task_names(), ", ")))
      ->type_name("NAME");
  command
      .add_option("--length", options->length, "Words of a sequence of --task, each length as often (default: 1-25)")
      ->type_name("LOW-HIGH");
  add_number(command, "--pairs", options->pairs,
             fmt::format("Pairs to draw (default: {}, of a task {})", quickstart.pairs, SequenceTask().pairs));
  add_number(command, "--seed", options->seed,
             fmt::format("Seed of the drawing, of the built-in corpus train's --split-seed (default: {})",
                         quickstart.split_seed));
  command.add_flag("--alignments", options->alignments,
                   "Add a third column: links like 0-0 1-2, place in the first and in the second from 0");
  command.add_flag("--difficulty", options->difficulty, "Print instead how rich and how hard the corpus is");
  add_json(command, options->json);
  command.callback([options, &command, builtin_pairs = quickstart.pairs] {
    if (command.count("--pairs") == 0) options->pairs = options->task ? SequenceTask().pairs : builtin_pairs;
    print_corpus(*options);
  });
}

}  // namespace tapestry
