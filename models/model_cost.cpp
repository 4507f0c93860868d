#include "models/model_cost.h"

#include <algorithm>

namespace tapestry {
namespace {

// Numbers that a Transformer's tape keeps, in terms of one source token and one target token.
struct KeptNumbers {
  double source = 0, target = 0;
};

KeptNumbers kept_by_transformer(const ModelShape& shape, const ShardSize& size) {
  const TransformerOptions& t = shape.transformer;
  const auto d = static_cast<double>(t.width), f = static_cast<double>(t.feed_forward);
  const auto heads = static_cast<double>(t.heads), layers = static_cast<double>(t.layers);
  // Up to 128 keys the weights of attention are kept; beyond, they are computed again.
  const auto weights = [&](Index keys) { return keys <= 128 ? heads * static_cast<double>(keys) : 0; };
  const double norm = 2 * d;  // what was normalised, and the result
  // Self-attention: queries, keys and values, context, weights, norm. Feed-forward: hidden layer, norm.
  const double encoder = 3 * d + d + weights(size.source) + norm + f + norm;
  // The decoder's also: query, context, weights and norm of attention to the source, of which keys and values are kept.
  const double decoder = encoder - weights(size.source) + weights(size.target) + 2 * d + weights(size.source) + norm;
  return {layers * (encoder + 2 * d) + 2 * d, layers * decoder + 2 * d};
}

Index encoder_directions(const ModelShape& shape) {
  return shape.bidirectional || shape.model == "bahdanau-paper" ? 2 : 1;
}

// Gates, their inputs, and the state, for each layer and direction. What attention keeps is small, unless its score is
// composed of vectors for each pair of query and key.
KeptNumbers kept_by_recurrent(const ModelShape& shape, const ShardSize& size) {
  const auto e = static_cast<double>(shape.embed), h = static_cast<double>(shape.hidden);
  const auto layers = static_cast<double>(shape.layers);
  const auto directions = static_cast<double>(encoder_directions(shape));
  const double cell = shape.cell == "rnn" ? 6 * h : shape.cell == "gru" ? 9 * h : 11 * h;
  const bool composed = shape.score == "gaussian" || (shape.score == "additive" && shape.normaliser == "relu");
  const double vectors = shape.model == "seq2seq" ? 0 : shape.score == "network" ? 2 : composed ? 1 : 0;
  const double pairs = vectors * static_cast<double>(size.source) * h;
  return {directions * layers * cell + e + 2 * h, layers * cell + 2 * e + 6 * h + pairs};
}

double matrix_elements(const ParameterStore& store, bool of_source) {
  double elements = 0;
  for (const Var& parameter : store.parameters()) {
    const std::string& name = parameter.leaf()->name;
    if (parameter.rank() != 2 || name.find("embed") != std::string::npos) continue;
    const bool source = name.find("encoder") != std::string::npos || name.find("W_k") != std::string::npos;
    if (source == of_source) elements += static_cast<double>(parameter.numel());
  }
  return elements;
}

}  // namespace

double operations_per_token(const ModelShape& shape, const ParameterStore& store, const ShardSize& size) {
  const auto source = static_cast<double>(size.source), target = static_cast<double>(size.target);
  double all = source * matrix_elements(store, true) + target * matrix_elements(store, false);
  if (shape.model == "transformer") {
    const auto width = static_cast<double>(shape.transformer.width);
    // A tied output layer is no matrix of its own.
    if (shape.tie != "none") all += target * width * static_cast<double>(shape.target_vocabulary);
    // Scores and context: two products of length x length x width.
    all += static_cast<double>(shape.transformer.layers) * 2 * width *
           (source * source + target * target + source * target);
  } else if (shape.model != "seq2seq") {
    // A score of H features (or of a network of H x H), and a mean of states in each direction.
    const auto hidden = static_cast<double>(shape.hidden), means = static_cast<double>(encoder_directions(shape));
    all += source * target * hidden * ((shape.score == "network" ? 1 + hidden : 1) + means);
  }
  return 6 * all / target;
}

double predicted_peak_bytes(const ModelShape& shape, const ParameterStore& store, const TrainingSize& size) {
  constexpr double number = 4;
  constexpr double rounding = 1.06;  // buffers are rounded up to size classes
  // Measured: the program with its threads; a token of text, which is a string, twice while the vocabulary is counted;
  // and how much more there is where free buffers of one shape do not all fit the next.
  constexpr double program = 20e6, text_token = 81, many_shapes = 1.6;
  const ShardSize& shard = size.shard;
  const auto parameters = static_cast<double>(store.elements());
  const auto sentences = static_cast<double>(shard.sentences);
  const KeptNumbers kept =
      shape.model == "transformer" ? kept_by_transformer(shape, shard) : kept_by_recurrent(shape, shard);
  const auto vocabulary = static_cast<double>(shape.target_vocabulary);
  const double depth =
      shape.model == "transformer" ? static_cast<double>(shape.transformer.width) : static_cast<double>(shape.hidden);
  const double rows = sentences * static_cast<double>(shard.target);
  // The fused output layer: gradients of weight and input until backward takes them, and a block of logits.
  const double loss = vocabulary * depth + rows * depth + std::min(rows, 256.0) * vocabulary;
  const double activations =
      sentences * (static_cast<double>(shard.source) * kept.source + static_cast<double>(shard.target) * kept.target);
  const auto shards = static_cast<double>(size.shards);
  const double buffers = rounding * (size.many_shapes ? many_shapes : 1) * shards * (activations + loss);
  return program + text_token * size.text_tokens + number * (parameters * (3 + shards) + buffers);
}

}  // namespace tapestry
