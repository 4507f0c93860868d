#pragma once
// Copying: a model that can also say the words of its source, be they in its vocabulary or not.

#include "models/corpus.h"
#include "models/decoding.h"
#include "models/sequence_loss.h"

namespace tapestry {

/// The pointer-generator (See, Liu and Manning 2017, "Get To The Point: Summarization with Pointer-Generator Networks",
/// section 2.2; Gu et al. 2016 mix copying and generating by scores of their own). With probability p_gen it writes one
/// of the V words of the target vocabulary, else one of the source words that it looks at:
///
///   P(w) = p_gen softmax(logits)_w + (1 - p_gen) sum of attention_s over the places s whose word is w
///
/// The words of a source that the vocabulary lacks get the ids V, V+1, ... in each sentence. p_gen is a sigmoid of the
/// features: in the paper of state, context and input, which are what features are made of.
struct PointerGenerator {
  std::unique_ptr<EncoderDecoder> base;  // reads, attends, and makes features
  Linear gate;                           // features [..,F] -> the logit of p_gen [..,1]

  /// `shape.model` says which base; it needs attention.
  PointerGenerator(const ModelShape& shape, const Scope& scope);
};

/// P for the rows of a step: logits [R,V], gate [R,1] (before the sigmoid), attention [R,S] over the words [R,S], of
/// which `unknown` ids are V or more: [R,V+unknown]. Errors: no attention; a word outside of [0, V + unknown).
Var copy_distribution(const Var& logits, const Var& gate, const Var& attention, const Ids& words, Index unknown);

/// -log P of the targets [B,T]: logits [B,T,V], gate [B,T,1], attention [B,T,S] over the words [B,S] of each sentence.
/// P is never made: only what the target's own probability needs, in logarithms, so that it is finite wherever the
/// vocabulary has the word. Where neither has it, P counts as 1e-30. Errors: shapes that do not fit together.
Var copy_nll(const Var& logits, const Var& gate, const Var& attention, const Ids& words, const Ids& targets);
/// The same from copy_distribution, for P above 0.
Var copy_nll_reference(const Var& logits, const Var& gate, const Var& attention, const Ids& words, const Ids& targets);

/// The sum over the real target tokens of a batch with words, under teacher forcing. The decoder is given <unk> for a
/// word that it copied, for it has no vector of it.
SequenceLoss copy_loss(const PointerGenerator& model, const Batch& batch, const Pass& pass);

/// A pair with the ids of its own unknown words: in `ids.words` and `ids.target`, V + k is unknown[k], the k-th word of
/// the source that the target vocabulary lacks. What neither has is <unk>.
struct CopyExample {
  Example ids;
  Tokens unknown;
};
CopyExample copy_example(const SentencePair& pair, const Vocabulary& source, const Vocabulary& target);

struct CopiedTranslation {
  TokenIds ids;                   // without <eos>; from V on, unknown words of the source
  bool ended = false;             // by <eos>, rather than at the limit
  std::vector<double> generated;  // p_gen for each token said and for the <eos> that ended it
  Tensor attention;               // the weights for each of these, [T,S]
};
/// The most probable word of P at each step, as `greedy`. Of the examples, sources and words are read.
/// Errors: a source without its words.
std::vector<CopiedTranslation> copy_greedy(const PointerGenerator& model, const std::vector<Example>& examples,
                                           core::Workers& workers);

}  // namespace tapestry
