// tapestry lab classify and tapestry lab tag: one label of a sequence (N to 1), one of each of its tokens (N to N).

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "core/files.h"
#include "models/builtin_corpus.h"
#include "models/label_task.h"
#include "models/labeller.h"
#include "models/sequence_task.h"
#include "tools/lab.h"
#include "tools/line_chart.h"
#include "tools/options.h"
#include "tools/table.h"

namespace tapestry {
namespace {

struct LabelLab {
  std::string task = "parity", encoder = "gru", length = "1-20", longer = "21-40", out;
  Index width = 32, longest = 9;
  FitOptions fit;
  int threads = 1;
  bool json = false;
};

constexpr Index batch = 64, train_sequences = 20'000, test_sequences = 1000;

// A labeller with its text: what it learnt from, and what it is asked.
struct Labelling {
  Vocabulary tokens, labels;
  ParameterStore store;
  Labeller model;

  Labelling(const LabelLab& lab, bool each, std::pair<Vocabulary, Vocabulary> vocabularies)
      : tokens(std::move(vocabularies.first)),
        labels(std::move(vocabularies.second)),
        store(DType::f32, lab.fit.seed),
        model(shape(lab, each), Scope(store)) {}

  LabellerShape shape(const LabelLab& lab, bool each) const {
    LabellerShape result{lab.encoder, each,     static_cast<Index>(tokens.size()), static_cast<Index>(labels.size()),
                         lab.width,   lab.width};
    result.transformer = {2 * lab.width, 4 * lab.width, 4, 2, true, true};
    result.transformer.dropout = 0;
    return result;
  }

  void train(const std::vector<LabelledSequence>& sequences, const FitOptions& options, core::Workers& workers) {
    const std::vector<Example> examples = label_examples(sequences, tokens, labels);
    constexpr std::uint64_t stream = 0x1abe1;  // apart from those of parameters and masks
    fit([&](const Batch& part, const Pass& pass) { return labelling_loss(model, part, pass); }, store, workers, options,
        [&](Index update) {
          return sample_examples(examples, batch,
                                 core::Random(options.seed, stream + static_cast<std::uint64_t>(update)));
        });
  }
};

// How good the labels of one part of the test are.
struct Part {
  std::string name;
  std::vector<Example> examples;
  std::vector<TokenIds> said = {};
  LabelScore score = {};
  double commonest = 0;  // share of the label that occurs most
};

void score(std::vector<Part>& parts, const Labelling& labelling, core::Workers& workers) {
  for (Part& part : parts) {
    part.said = label(labelling.model, part.examples, workers);
    part.score = score_labels(part.said, part.examples);
    std::map<std::int32_t, double> counts;
    double all = 0;
    for (const Example& example : part.examples)
      for (const std::int32_t answer : example.target) {
        part.commonest = std::max(part.commonest, ++counts[answer]);
        ++all;
      }
    part.commonest /= all;
  }
}

// The share of right labels by the length of the sequence.
Series by_length(const std::vector<Part>& parts, const std::string& name) {
  std::map<std::size_t, std::pair<double, double>> counts;  // right, all
  for (const Part& part : parts)
    for (std::size_t i = 0; i < part.examples.size(); ++i) {
      auto& [right, all] = counts[part.examples[i].source.size()];
      const TokenIds& answer = part.examples[i].target;
      for (std::size_t t = 0; t < answer.size(); ++t) right += part.said[i][t] == answer[t] ? 1 : 0;
      all += static_cast<double>(answer.size());
    }
  Series series{name, {}, {}};
  for (const auto& [length, of] : counts) {
    series.x.push_back(static_cast<double>(length));
    series.y.push_back(of.first / of.second);
  }
  return series;
}

void report(const LabelLab& lab, const std::vector<Part>& parts, const Labelling& labelling, const std::string& what) {
  const Series curve = by_length(parts, lab.encoder);
  if (!lab.out.empty())
    write_atomically(lab.out, line_charts_svg({{what, "tokens of the sequence", "share of right labels", {curve}}}));
  if (lab.json) {
    nlohmann::json json{{"encoder", lab.encoder},
                        {"parameters", labelling.store.elements()},
                        {"lengths", curve.x},
                        {"accuracy_by_length", curve.y}};
    for (const Part& part : parts)
      json["parts"].push_back({{"lengths", part.name},
                               {"sequences", part.examples.size()},
                               {"accuracy", part.score.labels},
                               {"whole_sequences", part.score.sequences},
                               {"commonest_label", part.commonest}});
    fmt::print("{}\n", json.dump(2));
    return;
  }
  fmt::print("{}, {} with {}\n\n", what, lab.encoder, counted(labelling.store.elements(), "parameter"));
  std::vector<std::vector<std::string>> rows{
      {"length", "sequences", "right labels", "right sequences", "commonest label"}};
  const auto percent = [](double share) { return fmt::format("{:.1f} %", 100 * share); };
  for (const Part& part : parts)
    rows.push_back({part.name, grouped(static_cast<std::int64_t>(part.examples.size())), percent(part.score.labels),
                    percent(part.score.sequences), percent(part.commonest)});
  fmt::print("{}", format_table(rows, "lrrrr"));
}

void check(const LabelLab& lab) {
  require_one_of("--encoder", lab.encoder, labeller_encoders());
  if (lab.width < 2 || lab.width > 1024 || lab.width % 2 != 0)
    throw UsageError(fmt::format("--width: must be even and lie in [2, 1024]; given {}", lab.width));
  validate(lab.fit);
}

void classify(const LabelLab& lab) {
  check(lab);
  const auto sequences = [&](const std::string& option, const std::string& range, Index count, std::uint64_t part) {
    LabelTask task{lab.task, count, 1, 1, 3 * lab.fit.seed + part};
    std::tie(task.shortest, task.longest) = parse_range(option, range);
    require_lengths(option, task.shortest, task.longest);
    return label_task(task);
  };
  const auto train = sequences("--length", lab.length, train_sequences, 0);
  Labelling labelling(lab, false, label_vocabularies(train));
  const auto part = [&](const std::string& option, const std::string& range, std::uint64_t number) {
    return Part{range,
                label_examples(sequences(option, range, test_sequences, number), labelling.tokens, labelling.labels)};
  };
  std::vector<Part> parts{part("--length", lab.length, 1), part("--longer", lab.longer, 2)};
  core::Workers workers(lab.threads);
  labelling.train(train, lab.fit, workers);
  score(parts, labelling, workers);
  report(lab, parts, labelling, lab.task);
}

// The sentences of at most `longest` words, or those of more.
std::vector<LabelledSequence> cut(const std::vector<AlignedPair>& pairs, Index longest, bool longer) {
  std::vector<LabelledSequence> kept;
  for (LabelledSequence& sequence : role_labels(pairs))
    if ((static_cast<Index>(sequence.tokens.size()) > longest) == longer) kept.push_back(std::move(sequence));
  return kept;
}

void tag(const LabelLab& lab) {
  check(lab);
  constexpr Index shortest = 6, most = 12;  // of up to these, and of more than these, there are enough
  require_within("--longest", lab.longest, shortest, most);
  const BuiltinCorpus corpus = builtin_corpus(10'000, lab.fit.seed, 0, 2 * test_sequences);
  const auto train = cut(corpus.train, lab.longest, false);
  Labelling labelling(lab, true, label_vocabularies(role_labels(corpus.train)));
  const auto part = [&](const std::string& name, bool longer) {
    return Part{name, label_examples(cut(corpus.test, lab.longest, longer), labelling.tokens, labelling.labels)};
  };
  std::vector<Part> parts{part(fmt::format("up to {}", lab.longest), false),
                          part(fmt::format("above {}", lab.longest), true)};
  core::Workers workers(lab.threads);
  labelling.train(train, lab.fit, workers);
  score(parts, labelling, workers);
  report(lab, parts, labelling, "roles of English words");
  if (lab.json) return;
  const TokenIds &words = parts[1].examples[0].source, &said = parts[1].said[0];
  std::vector<std::vector<std::string>> rows;
  for (std::size_t t = 0; t < words.size(); ++t)
    rows.push_back({labelling.tokens.token(words[t]), labelling.labels.token(said[t])});
  fmt::print("\n{}", format_table(rows, "ll"));
}

CLI::App& add_command(CLI::App& lab, const std::string& name, const std::string& description, LabelLab& options) {
  CLI::App& command = *lab.add_subcommand(name, description);
  command
      .add_option("--encoder", options.encoder,
                  "gru: both ways (default); transformer: two layers, 4 heads, twice the width")
      ->type_name("NAME");
  add_number(command, "--width", options.width, "Width of each direction of the GRU (default: 32)");
  add_fit_options(command, options.fit, options.threads);
  add_json(command, options.json);
  add_picture(command, options.out);
  return command;
}

}  // namespace

void add_lab_classify(CLI::App& lab) {
  const auto options = std::make_shared<LabelLab>();
  options->fit.updates = 600;
  CLI::App& command = add_command(lab, "classify",
                                  "Train a model that says one label of a whole sequence, N to 1: whether the ones of\n"
                                  "a row of bits are even or odd, or how deep its brackets are nested. Scored on new\n"
                                  "sequences of the lengths of training and of longer ones.",
                                  *options);
  command.add_option("--task", options->task, "parity (default) or depth")->type_name("NAME");
  command.add_option("--length", options->length, "Tokens of a sequence in training (default: 1-20)")
      ->type_name("LOW-HIGH");
  command.add_option("--longer", options->longer, "Tokens of the longer sequences (default: 21-40)")
      ->type_name("LOW-HIGH");
  command.callback([options] { classify(*options); });
}

void add_lab_tag(CLI::App& lab) {
  const auto options = std::make_shared<LabelLab>();
  options->fit.updates = 800;
  CLI::App& command =
      add_command(lab, "tag",
                  "Train a model that says one label of each token, N to N: the grammatical role of\n"
                  "each English word of the built-in corpus, from its shorter sentences. Scored on new\n"
                  "sentences, shorter and longer.",
                  *options);
  add_number(command, "--longest", options->longest, "Words of the longest sentence in training (default: 9)");
  command.callback([options] { tag(*options); });
}

}  // namespace tapestry
