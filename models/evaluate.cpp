#include "models/evaluate.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tapestry {
namespace {

constexpr std::size_t evaluation_batch = 64;

// Calls f(batch, rows) for consecutive batches of the examples sorted by length, on all workers.
template <class F>
void for_batches(const std::vector<Example>& examples, core::Workers& workers, F f) {
  MicroBatch rows = all_rows(examples);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Example* a, const Example* b) { return a->target.size() < b->target.size(); });
  const std::size_t batches = (rows.size() + evaluation_batch - 1) / evaluation_batch;
  workers.run(static_cast<Index>(batches), [&](Index batch) {
    const std::size_t begin = static_cast<std::size_t>(batch) * evaluation_batch;
    const std::size_t count = std::min(evaluation_batch, rows.size() - begin);
    const NoRecord inference;
    f(static_cast<std::size_t>(batch), std::span<const Example* const>(rows).subspan(begin, count));
  });
}

}  // namespace

BleuOptions bleu_options(const Run& run) {
  return run.segmenter.subwords() ? BleuOptions() : word_bleu();
}

BleuOptions word_bleu() {
  BleuOptions options;
  options.tokenizer = BleuTokenizer::none;
  return options;
}

double mean_loss(const EncoderDecoder& model, const std::vector<Example>& examples, core::Workers& workers) {
  return mean_loss([&](const Batch& batch, const Pass& pass) { return sequence_loss(model, batch, pass); }, examples,
                   workers);
}

double mean_loss(const BatchLoss& loss, const std::vector<Example>& examples, core::Workers& workers) {
  require(!examples.empty(), "loss: at least one sentence is needed; given none");
  std::vector<double> nll((examples.size() + evaluation_batch - 1) / evaluation_batch);
  Index tokens = 0;
  for (const Example& example : examples) tokens += static_cast<Index>(example.target.size());
  for_batches(examples, workers, [&](std::size_t batch, std::span<const Example* const> rows) {
    nll[batch] = loss(make_batch(rows), Pass{}).nll;
  });
  return std::accumulate(nll.begin(), nll.end(), 0.0) / static_cast<double>(tokens);
}

std::vector<std::vector<TranslatedSentence>> translate_n_best(const Run& run, const std::vector<Tokens>& sentences,
                                                              core::Workers& workers, const DecodingOptions& options) {
  std::vector<TokenIds> sources;
  for (const Tokens& sentence : sentences)
    sources.push_back(sentence.empty() ? TokenIds()
                                       : with_eos(sentence, run.source, static_cast<Index>(longest_sentence) + 1));
  DecodingOptions within = options;
  if (within.limit == 0) within.limit = run.config.length;
  auto lists = decode(*run.model, sources, workers, within);
  std::vector<std::vector<TranslatedSentence>> result(sentences.size());
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    Tokens source = sentences[i];
    source.resize(std::min(source.size(), longest_sentence));
    for (Translation& translation : lists[i]) {
      TranslatedSentence& sentence = result[i].emplace_back();
      sentence.source = source;
      sentence.target = run.target.tokens(translation.ids);
      sentence.ended = translation.ended;
      sentence.log_probability = translation.log_probability;
      sentence.score = translation.score;
      sentence.attention = std::move(translation.attention);
    }
  }
  return result;
}

std::vector<TranslatedSentence> translate(const Run& run, const std::vector<Tokens>& sentences, core::Workers& workers,
                                          const DecodingOptions& options) {
  DecodingOptions one = options;
  one.best = 1;
  std::vector<TranslatedSentence> result;
  for (auto& list : translate_n_best(run, sentences, workers, one)) result.push_back(std::move(list.front()));
  return result;
}

Evaluation score_translations(const Run& run, const Corpus& corpus, core::Workers& workers,
                              const EvaluationOptions& options) {
  Evaluation result;
  result.sentences = corpus.size();
  result.scoring = options.bleu ? *options.bleu : bleu_options(run);
  const std::vector<TranslatedSentence> translations = translate(run, sources(corpus), workers, options.decoding);
  BleuStats total;
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    const Tokens said = run.segmenter.words(translations[i].target),
                 reference = run.segmenter.words(corpus.pairs[i].target);
    result.hypotheses.push_back(spaced(said));
    result.stats.push_back(bleu_stats(result.hypotheses.back(), spaced(reference), result.scoring));
    total += result.stats.back();
    result.book_bleu += book_bleu(said, reference, 2) / static_cast<double>(corpus.size());
  }
  result.bleu = bleu(total, result.scoring);
  return result;
}

Evaluation evaluate(const Run& run, const Corpus& corpus, core::Workers& workers, const EvaluationOptions& options) {
  const double loss = mean_loss(*run.model, examples(corpus, run.source, run.target, run.config.length), workers);
  Evaluation result = score_translations(run, corpus, workers, options);
  result.loss = loss;
  result.perplexity = std::exp(loss);
  return result;
}

bool attends(const Run& run) {
  const NoRecord inference;
  const Ids one({Vocabulary::eos}, {1, 1}), length({1});
  DecoderState state = run.model->encode(one, length, Pass{});
  return static_cast<bool>(run.model->step(Ids({Vocabulary::bos}), state, Pass{}).attention);
}

std::vector<Alignment> attention_alignment(const Run& run, const Corpus& corpus, core::Workers& workers) {
  const std::vector<Example> data = examples(corpus, run.source, run.target, 0);
  std::vector<Alignment> alignments(data.size());
  for_batches(data, workers, [&](std::size_t, std::span<const Example* const> rows) {
    const Batch batch = make_batch(rows);
    const DecoderState state = run.model->encode(batch.source.ids, batch.source.lengths, Pass{});
    const Var attention = run.model->teacher_forced(batch.inputs, state, Pass{}, true).attention;  // [B,T,S]
    require(static_cast<bool>(attention), "alignment: the model must have attention; {} has none", run.config.model);
    const Index steps = attention.size(1), width = attention.size(2);
    for (std::size_t b = 0; b < rows.size(); ++b) {
      Alignment& links = alignments[static_cast<std::size_t>(rows[b] - data.data())];
      const Index words = static_cast<Index>(rows[b]->source.size()) - 1;
      for (Index t = 0; t + 1 < static_cast<Index>(rows[b]->target.size()); ++t) {
        Index best = 0;
        const Index row = (static_cast<Index>(b) * steps + t) * width;
        for (Index s = 1; s <= words; ++s)
          if (attention.value().at(row + s) > attention.value().at(row + best)) best = s;
        if (best < words) links.push_back({static_cast<int>(best), static_cast<int>(t)});
      }
    }
  });
  return alignments;
}

}  // namespace tapestry
