// tapestry lab copy: names that nobody can have learnt.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "tools/copying.h"
#include "tools/heat_map.h"
#include "tools/lab.h"
#include "tools/options.h"
#include "tools/table.h"

namespace tapestry {
namespace {

constexpr std::size_t shown = 3;  // sentences

struct CopyCommand {
  CopyingOptions experiment;
  std::string out;
  int threads = 1;
  bool json = false;
};

nlohmann::json to_json(const CopyingScore& score) {
  return {{"names_copied", score.names}, {"names_unknown", score.unknown}, {"sentences_right", score.sentences}};
}

void print_json(const CopyCommand& command, const CopyingExperiment& result) {
  nlohmann::json samples = nlohmann::json::array();
  for (std::size_t i = 0; i < shown; ++i) {
    const CopyingSample& sample = result.samples[i];
    samples.push_back({{"source", sample.source},
                       {"reference", sample.reference},
                       {"attention", sample.plain},
                       {"pointer_generator", sample.copied},
                       {"p_gen", sample.generated}});
  }
  fmt::print("{}\n", nlohmann::json{{"attention", to_json(result.plain)},
                                    {"pointer_generator", to_json(result.pointer)},
                                    {"p_gen_at_names", result.gate_at_names},
                                    {"p_gen_at_words", result.gate_at_words},
                                    {"names", result.names},
                                    {"sentences", result.sentences},
                                    {"samples", samples},
                                    {"seed", command.experiment.seed}}
                         .dump(2));
}

// The translation with p_gen below each token.
std::string with_gates(const CopyingSample& sample) {
  std::vector<std::string> words{"  pointer-generator"}, gates{"  p_gen"};
  for (std::size_t t = 0; t < sample.generated.size(); ++t) {
    words.push_back(t < sample.copied.size() ? sample.copied[t] : "<eos>");
    gates.push_back(fmt::format("{:.2f}", sample.generated[t]));
  }
  return format_table({words, gates}, std::string(words.size(), 'l'));
}

void print(const CopyCommand& command, const CopyingExperiment& result) {
  const auto row = [](const char* name, const CopyingScore& score) {
    return std::vector<std::string>{name, fmt::format("{:.1f} %", 100 * score.names),
                                    fmt::format("{:.1f} %", 100 * score.unknown),
                                    fmt::format("{:.1f} %", 100 * score.sentences)};
  };
  fmt::print("{}\n{} in {}, none of which training showed; {}, {}, seed {}\n",
             format_table({{"", "names copied", "<unk> instead", "sentences right"},
                           row("attention alone", result.plain),
                           row("pointer-generator", result.pointer)},
                          "lrrr"),
             counted(result.names, "name"), counted(result.sentences, "sentence"),
             counted(command.experiment.pairs, "pair"), counted(command.experiment.epochs, "epoch"),
             command.experiment.seed);
  fmt::print("p_gen: {:.3f} where a name is due, {:.3f} where a word that the source lacks\n", result.gate_at_names,
             result.gate_at_words);
  for (std::size_t i = 0; i < shown; ++i)
    fmt::print("\n{}\n  attention alone    {}\n{}", fmt::join(result.samples[i].source, " "),
               fmt::join(result.samples[i].plain, " "), with_gates(result.samples[i]));
}

// Attention, and in a last column p_gen.
std::string picture(const CopyingExperiment& result) {
  HeatMapSheet sheet;
  for (std::size_t i = 0; i < shown; ++i) {
    const CopyingSample& sample = result.samples[i];
    HeatMap map{sample.copied, sample.source, {}};
    if (map.rows.size() < sample.generated.size()) map.rows.push_back("<eos>");
    map.columns.insert(map.columns.end(), {"<eos>", "<p_gen>"});
    const auto rows = static_cast<Index>(map.rows.size()), columns = static_cast<Index>(map.columns.size());
    map.weights = Tensor::empty({rows, columns}, sample.attention.dtype());
    for (Index r = 0; r < rows; ++r) {
      for (Index c = 0; c + 1 < columns; ++c)
        map.weights.set(r * columns + c, sample.attention.at(r * (columns - 1) + c));
      map.weights.set((r + 1) * columns - 1, sample.generated[static_cast<std::size_t>(r)]);
    }
    sheet.add(map);
  }
  return sheet.svg();
}

void run(const CopyCommand& command) {
  core::Workers workers(command.threads);
  const CopyingExperiment result = copying_experiment(command.experiment, workers);
  (command.json ? print_json : print)(command, result);
  if (!command.out.empty()) write_atomically(command.out, picture(result));
}

}  // namespace

void add_lab_copy(CLI::App& lab) {
  CLI::App& command = *lab.add_subcommand(
      "copy",
      "Copying: sentences with names that training never showed, translated by attention alone and by a\n"
      "pointer-generator, which may say a word that it looks at.");
  const auto options = std::make_shared<CopyCommand>();
  add_number(command, "--pairs", options->experiment.pairs, "Training pairs (default: 3000)");
  add_number(command, "--epochs", options->experiment.epochs, "How often each model sees them (default: 4)");
  add_number(command, "--hidden", options->experiment.hidden, "Width of both models (default: 48)");
  add_number(command, "--seed", options->experiment.seed, "Seed of sentences and parameters (default: 1)");
  add_threads(command, options->threads);
  add_picture(command, options->out, "Draw attention and p_gen of the sentences shown");
  add_json(command, options->json);
  command.callback([options] { run(*options); });
}

}  // namespace tapestry
