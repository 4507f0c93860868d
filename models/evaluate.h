#pragma once
// How good is a model on a part of the text?

#include <optional>

#include "core/workers.h"
#include "models/alignment.h"
#include "models/batch.h"
#include "models/bleu.h"
#include "models/decoding.h"
#include "models/run.h"
#include "models/sequence_loss.h"

namespace tapestry {

/// Mean -log p over the real target tokens, in nats, with the true tokens given (teacher-forced).
double mean_loss(const BatchLoss& loss, const std::vector<Example>& examples, core::Workers& workers);
double mean_loss(const EncoderDecoder& model, const std::vector<Example>& examples, core::Workers& workers);

/// Translates tokenised sentences; what the vocabulary does not know is <unk> to the model. A sentence without tokens
/// gives one without tokens. No translation is longer than the run's `length`, if it has one.
/// Only the first `longest_sentence` tokens of a source are read.
inline constexpr std::size_t longest_sentence = 1000;
struct TranslatedSentence {
  Tokens source, target;  // as read by the model, and as said; the run's segmenter makes words of them
  bool ended = false;     // by <eos>, rather than at the limit
  double log_probability = 0, score = 0;
  Tensor attention;  // [target + ended, source + 1], <eos> included; see decoding.h
};
std::vector<TranslatedSentence> translate(const Run& run, const std::vector<Tokens>& sentences, core::Workers& workers,
                                          const DecodingOptions& options = {});
/// The same with options.best translations of each sentence, best first; fewer if fewer were found, at least one.
std::vector<std::vector<TranslatedSentence>> translate_n_best(const Run& run, const std::vector<Tokens>& sentences,
                                                              core::Workers& workers, const DecodingOptions& options);

/// The options of BLEU in this program, unless others are asked for: the words as they are, separated by spaces.
BleuOptions word_bleu();
/// The options of BLEU for a run: those, or sacreBLEU's own where it writes plain text.
BleuOptions bleu_options(const Run& run);

struct EvaluationOptions {
  DecodingOptions decoding;
  std::optional<BleuOptions> bleu = {};  // none: those of `bleu_options`
};

struct Evaluation {
  double loss = 0, perplexity = 0;
  BleuScore bleu;        // corpus BLEU-4 of free translations, pieces joined to words
  BleuOptions scoring;   // its options
  double book_bleu = 0;  // mean of the book's sentence score with k = 2, 0 to 1
  std::size_t sentences = 0;
  std::vector<BleuStats> stats;         // of each sentence, for a paired bootstrap
  std::vector<std::string> hypotheses;  // the words that were scored, separated by spaces
};
Evaluation evaluate(const Run& run, const Corpus& corpus, core::Workers& workers,
                    const EvaluationOptions& options = {});
/// The same without loss and perplexity.
Evaluation score_translations(const Run& run, const Corpus& corpus, core::Workers& workers,
                              const EvaluationOptions& options = {});

/// Whether the model has attention, that is, whether translations come with weights.
bool attends(const Run& run);

/// For each pair the link from each target token but <eos> to its most attended source token, teacher-forced.
/// <eos> of the source may be attended to and then links to no word. Errors: the model has no attention.
std::vector<Alignment> attention_alignment(const Run& run, const Corpus& corpus, core::Workers& workers);

}  // namespace tapestry
