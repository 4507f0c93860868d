// tapestry lab lengths: one vector for the whole sentence, against attention, by the length of the sentence.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "core/files.h"
#include "models/evaluate.h"
#include "models/fit.h"
#include "models/greedy.h"
#include "models/sequence_task.h"
#include "tools/lab.h"
#include "tools/line_chart.h"
#include "tools/options.h"
#include "tools/table.h"

namespace tapestry {
namespace {

struct LengthsLab {
  std::string task = "reverse", out;
  Index longest = 16, hidden = 64;
  FitOptions fit;
  int threads = 1;
  bool json = false;
};

constexpr Index bands = 4, train_pairs = 20'000, test_pairs = 800;

// How well one model does at each range of lengths.
struct Result {
  std::string model;
  Index parameters = 0;
  std::vector<double> bleu, exact;  // 0 to 100; 0 to 1
};

// The lengths of a band: the first are 1 to longest / 4.
std::pair<Index, Index> band(const LengthsLab& lab, Index number) {
  return {number * lab.longest / bands + 1, (number + 1) * lab.longest / bands};
}

struct Data {
  Vocabulary words;
  std::vector<Example> train, test;
};

Data data_of(const LengthsLab& lab) {
  const auto corpus = [&](Index pairs, std::uint64_t part) {
    Corpus result;
    for (AlignedPair& pair : sequence_task({lab.task, pairs, 1, lab.longest, 2 * lab.fit.seed + part}))
      result.pairs.push_back({std::move(pair.source), std::move(pair.target)});
    return result;
  };
  const Corpus train = corpus(train_pairs, 0);
  const Vocabulary words(sources(train), 1);
  return {words, examples(train, words, words, 0), examples(corpus(test_pairs, 1), words, words, 0)};
}

// Each update draws its pairs by (seed, update) alone, so that both models see the same.
std::vector<Example> drawn(const LengthsLab& lab, const Data& data, Index update) {
  constexpr Index batch = 64;
  constexpr std::uint64_t stream = 0x1e0975;  // apart from those of parameters and masks
  return sample_examples(data.train, batch, core::Random(lab.fit.seed, stream + static_cast<std::uint64_t>(update)));
}

Tokens words_of(const TokenIds& ids, const Vocabulary& words) {
  Tokens tokens;
  for (const std::int32_t id : ids)
    if (id != Vocabulary::eos) tokens.push_back(words.token(id));
  return tokens;
}

Result run_model(const std::string& name, const LengthsLab& lab, const Data& data, core::Workers& workers) {
  const auto size = static_cast<Index>(data.words.size());
  const ModelShape shape{name, size, size, lab.hidden, lab.hidden, 1};
  ParameterStore store(DType::f32, lab.fit.seed);
  const auto model = make_model(shape, Scope(store));
  fit([&](const Batch& batch, const Pass& pass) { return sequence_loss(*model, batch, pass); }, store, workers, lab.fit,
      [&](Index update) { return drawn(lab, data, update); });
  std::vector<TokenIds> sources;
  for (const Example& example : data.test) sources.push_back(example.source);
  const std::vector<Translation> said = greedy(*model, sources, workers);
  Result result{name, store.elements(), {}, {}};
  for (Index number = 0; number < bands; ++number) {
    const auto [shortest, longest] = band(lab, number);
    BleuStats stats;
    double exact = 0, all = 0;
    for (std::size_t i = 0; i < said.size(); ++i) {
      const Index length = static_cast<Index>(sources[i].size()) - 1;  // <eos> is no word
      if (length < shortest || length > longest) continue;
      const Tokens reference = words_of(data.test[i].target, data.words),
                   hypothesis = words_of(said[i].ids, data.words);
      stats += bleu_stats(hypothesis, reference);
      exact += hypothesis == reference ? 1 : 0;
      ++all;
    }
    result.bleu.push_back(bleu(stats, word_bleu()).score);
    result.exact.push_back(exact / all);
  }
  return result;
}

void print(const LengthsLab& lab, const std::vector<Result>& results) {
  fmt::print("{}, {}; {} pairs to learn from, of 1 to {} words\n\n", lab.task, counted(lab.fit.updates, "update"),
             grouped(train_pairs), lab.longest);
  std::vector<std::vector<std::string>> rows{{"length"}};
  for (const Result& result : results) {
    rows[0].push_back(result.model + " BLEU");
    rows[0].push_back("exact");
  }
  for (Index number = 0; number < bands; ++number) {
    const auto [shortest, longest] = band(lab, number);
    rows.push_back({fmt::format("{}-{}", shortest, longest)});
    for (const Result& result : results) {
      rows.back().push_back(fmt::format("{:.2f}", result.bleu[static_cast<std::size_t>(number)]));
      rows.back().push_back(fmt::format("{:.1f} %", 100 * result.exact[static_cast<std::size_t>(number)]));
    }
  }
  fmt::print("{}", format_table(rows, "lrrrr"));
}

nlohmann::json to_json(const LengthsLab& lab, const std::vector<Result>& results) {
  nlohmann::json json{
      {"task", lab.task}, {"updates", lab.fit.updates}, {"bleu_signature", bleu_signature(word_bleu())}};
  for (Index number = 0; number < bands; ++number) {
    const auto [shortest, longest] = band(lab, number);
    json["lengths"].push_back({shortest, longest});
  }
  for (const Result& result : results)
    json["models"].push_back(
        {{"model", result.model}, {"parameters", result.parameters}, {"bleu", result.bleu}, {"exact", result.exact}});
  return json;
}

std::string picture(const LengthsLab& lab, const std::vector<Result>& results) {
  LineChart scores{lab.task, "words of the sequence", "BLEU", {}},
      exact{lab.task, "words of the sequence", "share exactly right", {}};
  std::vector<double> middles;
  for (Index number = 0; number < bands; ++number) {
    const auto [shortest, longest] = band(lab, number);
    middles.push_back(static_cast<double>(shortest + longest) / 2);
  }
  for (const Result& result : results) {
    scores.series.push_back({result.model, middles, result.bleu});
    exact.series.push_back({result.model, middles, result.exact});
  }
  return line_charts_svg({scores, exact});
}

void run(const LengthsLab& lab) {
  require_within("--longest", lab.longest, 2 * bands, 100);
  require_within("--hidden", lab.hidden, 1, 1024);
  validate(lab.fit);
  const Data data = data_of(lab);
  core::Workers workers(lab.threads);
  std::vector<Result> results;
  for (const char* name : {"seq2seq", "bahdanau"}) results.push_back(run_model(name, lab, data, workers));
  if (!lab.out.empty()) write_atomically(lab.out, picture(lab, results));
  if (lab.json)
    fmt::print("{}\n", to_json(lab, results).dump(2));
  else
    print(lab, results);
}

}  // namespace

void add_lab_lengths(CLI::App& lab) {
  CLI::App& command = *lab.add_subcommand("lengths",
                                          "Train seq2seq, whose decoder is given one vector for the whole source, and "
                                          "Bahdanau's model, which looks at all\n"
                                          "of it, on the same pairs, and score both by the length of the source.");
  const auto options = std::make_shared<LengthsLab>();
  options->fit.updates = 1500;
  options->fit.lr = 0.005;
  command
      .add_option("--task", options->task,
                  fmt::format("One of {} (default: {})", fmt::join(sequence_task_names(), ", "), options->task))
      ->type_name("NAME");
  add_number(command, "--longest", options->longest,
             fmt::format("Words of the longest source (default: {})", options->longest));
  add_number(command, "--hidden", options->hidden, fmt::format("Width of both models (default: {})", options->hidden));
  add_fit_options(command, options->fit, options->threads);
  add_json(command, options->json);
  add_picture(command, options->out);
  command.callback([options] { run(*options); });
}

}  // namespace tapestry
