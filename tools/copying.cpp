#include "tools/copying.h"

#include <algorithm>

#include "models/fit.h"
#include "models/greedy.h"
#include "models/name_task.h"
#include "models/pointer_generator.h"

namespace tapestry {
namespace {

constexpr Index test_pairs = 300;

void check(const CopyingOptions& options) {
  // With fewer, a word that is no name may be too rare for the vocabulary, and would pass for one.
  require_within("--pairs", options.pairs, 200, 1'000'000);
  require_within("--epochs", options.epochs, 1, 1000);
  require_within("--hidden", options.hidden, 1, 1024);
}

// The text in words and in ids.
struct NameText {
  Corpus train, test;
  Vocabulary source, target;
  std::vector<CopyExample> learnt, asked;

  explicit NameText(const CopyingOptions& options)
      : train(name_task(options.pairs, false, options.seed)), test(name_task(test_pairs, true, options.seed)) {
    const auto frequent = static_cast<std::size_t>(std::max<Index>(2, options.pairs / 100));
    source = Vocabulary(sources(train), frequent);
    target = Vocabulary(targets(train), frequent);
    for (const SentencePair& pair : train.pairs) learnt.push_back(copy_example(pair, source, target));
    for (const SentencePair& pair : test.pairs) asked.push_back(copy_example(pair, source, target));
  }
  bool is_name(const std::string& word) const { return target.ids({word})[0] == Vocabulary::unk; }
  ModelShape shape(const CopyingOptions& options) const {
    return {"bahdanau-paper",
            static_cast<Index>(source.size()),
            static_cast<Index>(target.size()),
            options.hidden,
            options.hidden,
            1};
  }
};

std::vector<Tokens> translate_plainly(const NameText& text, const CopyingOptions& options, core::Workers& workers) {
  ParameterStore store(DType::f32, options.seed);
  const auto model = make_model(text.shape(options), Scope(store));
  fit_epochs([&](const Batch& batch, const Pass& pass) { return sequence_loss(*model, batch, pass); }, store, workers,
             examples(text.train, text.source, text.target, 0), {options.epochs, 32, 0.005, options.seed});
  std::vector<TokenIds> sources;
  for (const CopyExample& example : text.asked) sources.push_back(example.ids.source);
  std::vector<Tokens> translations;
  for (const Translation& translation : greedy(*model, sources, workers))
    translations.push_back(text.target.tokens(translation.ids));
  return translations;
}

std::vector<CopiedTranslation> translate_copying(const NameText& text, const CopyingOptions& options,
                                                 core::Workers& workers) {
  ParameterStore store(DType::f32, options.seed);
  const PointerGenerator model(text.shape(options), Scope(store));
  std::vector<Example> learnt, asked;
  for (const CopyExample& example : text.learnt) learnt.push_back(example.ids);
  for (const CopyExample& example : text.asked) asked.push_back(example.ids);
  fit_epochs([&](const Batch& batch, const Pass& pass) { return copy_loss(model, batch, pass); }, store, workers,
             learnt, {options.epochs, 32, 0.005, options.seed});
  return copy_greedy(model, asked, workers);
}

CopyingScore score(const NameText& text, const std::vector<CopyingSample>& samples, Tokens CopyingSample::*said) {
  CopyingScore counts;
  double names = 0;
  for (const CopyingSample& sample : samples) {
    const Tokens& translation = sample.*said;
    counts.sentences += translation == sample.reference;
    for (std::size_t t = 0; t < sample.reference.size(); ++t) {
      if (!text.is_name(sample.reference[t])) continue;
      ++names;
      if (t >= translation.size()) continue;
      counts.names += translation[t] == sample.reference[t];
      counts.unknown += translation[t] == text.target.token(Vocabulary::unk);
    }
  }
  return {counts.names / names, counts.unknown / names, counts.sentences / static_cast<double>(samples.size())};
}

// Mean p_gen where the reference has a name, or a word that is no part of the source either.
double mean_gate(const NameText& text, const std::vector<CopyingSample>& samples, bool names) {
  double sum = 0, count = 0;
  for (const CopyingSample& sample : samples)
    for (std::size_t t = 0; t < std::min(sample.reference.size(), sample.generated.size()); ++t) {
      const std::string& word = sample.reference[t];
      const bool of_source = std::count(sample.source.begin(), sample.source.end(), word) > 0;
      if (text.is_name(word) != names || of_source != names) continue;
      sum += sample.generated[t];
      ++count;
    }
  return sum / count;
}

}  // namespace

CopyingExperiment copying_experiment(const CopyingOptions& options, core::Workers& workers) {
  check(options);
  const NameText text(options);
  std::vector<Tokens> plain = translate_plainly(text, options, workers);
  std::vector<CopiedTranslation> copied = translate_copying(text, options, workers);
  CopyingExperiment result;
  const auto vocabulary = static_cast<std::int32_t>(text.target.size());
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const SentencePair& pair = text.test.pairs[i];
    CopyingSample sample{pair.source, pair.target, std::move(plain[i]), {}, copied[i].generated, copied[i].attention};
    for (const std::int32_t id : copied[i].ids)
      sample.copied.push_back(id < vocabulary ? text.target.token(id)
                                              : text.asked[i].unknown[static_cast<std::size_t>(id - vocabulary)]);
    result.names += std::count_if(pair.target.begin(), pair.target.end(),
                                  [&](const std::string& word) { return text.is_name(word); });
    result.samples.push_back(std::move(sample));
  }
  result.sentences = static_cast<Index>(result.samples.size());
  result.plain = score(text, result.samples, &CopyingSample::plain);
  result.pointer = score(text, result.samples, &CopyingSample::copied);
  result.gate_at_names = mean_gate(text, result.samples, true);
  result.gate_at_words = mean_gate(text, result.samples, false);
  return result;
}

}  // namespace tapestry
