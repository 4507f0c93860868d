#pragma once
// Beam search: several beginnings of a translation are continued at once, so that a token that looks second best can
// still turn out right.

#include "models/decoding.h"

namespace tapestry {

/// After each step the N = options.beam most probable beginnings of a sentence are kept, those of them that end with
/// <eos> are put aside, and the others are continued. What has been put aside is ranked by
///
///   score = log p / L^A        log p = sum of the log-probabilities of the tokens,  L = their number,  <eos> counted
///
/// with A = options.length_penalty. Sums of log-probabilities fall with every token, so without a penalty (A = 0) short
/// translations win; A = 1 ranks by the mean.
///
/// **When to stop.** Let s be log p of a beginning. Whatever follows, its log p will be some s' <= s, at some length
/// L <= limit. As s <= 0 and L^A grows with L,
///
///   s' / L^A  <=  s / L^A  <=  s / limit^A
///
/// So a sentence is done when as many translations as are wanted are put aside and none of them scores less than
/// s / limit^A for the best s of what is left; or when nothing is left; or at the limit. Only if nothing was put aside
/// by then, what is left at the limit is ranked in the same way.
///
/// Returns for each sentence the options.best best ones it found, best first; fewer if fewer ended. With N = 1 it is
/// greedy decoding. Errors: as `decode`.
std::vector<std::vector<Translation>> beam_search(const EncoderDecoder& model, const std::vector<TokenIds>& sources,
                                                  core::Workers& workers, const DecodingOptions& options);

}  // namespace tapestry
