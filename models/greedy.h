#pragma once
// One continuation of each sentence, token by token: the most probable one (greedy decoding), or one drawn by chance.

#include "models/decoding.h"

namespace tapestry {

/// One translation of each sentence of ids (each with <eos>), in their order: with options.sampling each token is drawn
/// (below), without it the most probable one is taken. `beam` and `best` do not matter.
std::vector<Translation> greedy(const EncoderDecoder& model, const std::vector<TokenIds>& sources,
                                core::Workers& workers, const DecodingOptions& options = {});

/// The place of the largest of row `row` of [R,V], the first of them if there are several; no NaN may be among them.
std::int32_t most_probable(const Tensor& scores, Index row);

/// A token drawn from row `row` of logits [R,V] as the options say. The draw is a function of the seed, the number of
/// the sentence and the position in it, whatever else is decoded beside it.
std::int32_t draw(const Tensor& logits, Index row, const Sampling& options, std::uint64_t sentence, Index position);

}  // namespace tapestry
