#pragma once
// Decoding, timed.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace tapestry {

struct DecodeRow {
  std::string decoder;  // "greedy, uncached", "greedy", "beam 5"
  int threads;
  double sentences_per_second;  // median of the repetitions
};

/// Sentences a second that a Transformer of the sizes of transformer-tiny decodes, with untrained parameters: 256
/// random sentences of 15 tokens, 14 steps each without a stop at <eos>, 64 sentences a batch. Every decoder is
/// measured with every number of threads, in turn, in a process of its own.
std::vector<DecodeRow> bench_decode(const std::vector<int>& threads, int repetitions);

nlohmann::json to_json(const DecodeRow& row);
std::string format_decoding(const std::vector<DecodeRow>& rows, int repetitions);

}  // namespace tapestry
