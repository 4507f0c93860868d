#pragma once
// How good is a model on a part of the text?

#include "core/workers.h"
#include "models/alignment.h"
#include "models/batch.h"
#include "models/bleu.h"
#include "models/greedy.h"
#include "models/run.h"

namespace tapestry {

/// Mean -log p over the real target tokens, in nats, with the true tokens given (teacher-forced).
double mean_loss(const EncoderDecoder& model, const std::vector<Example>& examples, core::Workers& workers);

/// Translates tokenised sentences; what the vocabulary does not know is <unk> to the model. A sentence without tokens
/// gives one without tokens.
/// Only the first `longest_sentence` tokens of a source are read.
inline constexpr std::size_t longest_sentence = 1000;
struct TranslatedSentence {
  Tokens source, target;  // as read by the model, and as said
  bool ended = false;     // by <eos>, rather than at the limit
  Tensor attention;       // [target + ended, source + 1], <eos> included; see greedy.h
};
std::vector<TranslatedSentence> translate(const Run& run, const std::vector<Tokens>& sentences, core::Workers& workers,
                                          bool attention = false);

struct Evaluation {
  double loss = 0, perplexity = 0;
  BleuScore bleu;        // corpus BLEU-4 of free-running greedy translations, smoothing exp, pieces joined to words
  double book_bleu = 0;  // mean of the book's sentence score with k = 2, 0 to 1
  std::size_t sentences = 0;
  std::vector<BleuStats> stats;  // of each sentence, for a paired bootstrap
};
Evaluation evaluate(const Run& run, const Corpus& corpus, core::Workers& workers);

/// The options of BLEU for tokenised text: the words as they are, separated by spaces.
BleuOptions word_bleu();
/// The options of BLEU for a run: those, or sacreBLEU's own where it writes plain text.
BleuOptions bleu_options(const Run& run);

/// Whether the model has attention, that is, whether translations come with weights.
bool attends(const Run& run);

/// For each pair the link from each target token but <eos> to its most attended source token, teacher-forced.
/// <eos> of the source may be attended to and then links to no word. Errors: the model has no attention.
std::vector<Alignment> attention_alignment(const Run& run, const Corpus& corpus, core::Workers& workers);

}  // namespace tapestry
