#pragma once
// Greedy decoding: at each step the most probable token.

#include <vector>

#include "core/workers.h"
#include "models/encoder_decoder.h"

namespace tapestry {

struct Translation {
  std::vector<std::int32_t> ids;  // without <eos>
  bool ended = false;             // by <eos>, rather than at the limit
  /// Weights [T,S] over the source tokens (<eos> included) for each token said and for the <eos> that ended it, if one
  /// did; no value without attention.
  Tensor attention;
};

struct GreedyOptions {
  Index limit = 0;  // at most so many tokens; 0: twice the source's and ten more
  Index batch = 64;
  bool stop = true;  // at <eos>
  bool attention = false;
};

/// Translates sentences of ids (each with <eos>) in batches of similar length on all workers; results are in the order
/// of the sentences.
std::vector<Translation> greedy(const EncoderDecoder& model, const std::vector<std::vector<std::int32_t>>& sources,
                                core::Workers& workers, const GreedyOptions& options = {});

}  // namespace tapestry
