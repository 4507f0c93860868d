#pragma once
// What every way of decoding shares: options, results, and the batches in which sentences are decoded.

#include <functional>
#include <optional>
#include <vector>

#include "core/matmul.h"
#include "core/workers.h"
#include "models/encoder_decoder.h"

namespace tapestry {

using TokenIds = std::vector<std::int32_t>;

struct Translation {
  TokenIds ids;                // without <eos>
  bool ended = false;          // by <eos>, rather than at the limit
  double log_probability = 0;  // of these tokens, <eos> included, in nats
  double score = 0;            // log_probability / length^A; the length counts <eos>
  /// Weights [T,S] over the source tokens (<eos> included) for each token said and for the <eos> that ended it, if one
  /// did; no value without attention.
  Tensor attention;
};

/// Tokens are drawn from softmax(logits / temperature), of the `top_k` most probable ones if that is above 0.
struct Sampling {
  double temperature = 1;
  Index top_k = 0;
  std::uint64_t seed = 1;
  std::uint64_t first_sentence = 0;  // number of the first source, of which a draw is a function
};

struct DecodingOptions {
  Index beam = 1;                    // hypotheses kept after each step; with 1, decoding is greedy
  Index best = 1;                    // translations wanted of each sentence, at most `beam`
  double length_penalty = 1;         // A, at least 0
  std::optional<Sampling> sampling;  // in place of the most probable
  Index limit = 0;   // at most so many tokens, <eos> included, if that is less than twice the source's and ten
  Index batch = 64;  // rows of a step: sentences times hypotheses
  bool stop = true;  // at <eos>
  bool attention = false;
};

/// The translations of each sentence of ids (each with <eos>), best first, by beam_search, sample or greedy. A sentence
/// without ids has an empty one. Errors: as validate; logits that are not finite.
std::vector<std::vector<Translation>> decode(const EncoderDecoder& model, const std::vector<TokenIds>& sources,
                                             core::Workers& workers, const DecodingOptions& options = {});

/// Errors (UsageError): `--beam: ...` options out of range, or that exclude each other.
void validate(const DecodingOptions& options);

/// The model's output layer, laid out once for all steps.
core::PackedLinear packed_output(const EncoderDecoder& model);

/// At most so many steps for this source.
Index step_limit(const TokenIds& source, const DecodingOptions& options);

/// log_probability / length^penalty.
double normalised(double log_probability, Index length, double penalty);

/// log sum_v e^(x_v) of row `row` of logits [R,V]: log p_v is x_v minus this. Errors: a logit is NaN or infinite.
double log_normaliser(const Tensor& logits, Index row);

/// Row `row` of the weights of a step, [R,S], put into row t of `to` [T,width]. What lies behind is padding of a batch.
void copy_weights(const Tensor& weights, Index row, const Tensor& to, Index t);

/// Calls decode_batch(numbers) with the numbers of a batch of sentences of similar length, on all workers. Which
/// sentences are together does not depend on the threads. Sentences without ids are left out.
void for_source_batches(const std::vector<TokenIds>& sources, Index sentences, core::Workers& workers,
                        const std::function<void(const std::vector<std::size_t>&)>& decode_batch);

}  // namespace tapestry
