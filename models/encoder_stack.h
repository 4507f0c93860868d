#pragma once
// The Transformer's encoder by itself: what a model that only reads is made of.

#include <optional>

#include "nn/positional_encoding.h"
#include "nn/transformer_layers.h"

namespace tapestry {

/// Embeddings times sqrt(D) plus positions, dropout, encoder layers and, if asked for, a final norm. Parameters
/// embed.weight, from N(0, 1 / D), with learned positions embed.positions.weight, layers.{N}.*, norm.*.
class EncoderStack {
 public:
  EncoderStack(const Scope& scope, Index vocabulary, const TransformerOptions& options,
               const PositionOptions& positions);

  /// tokens [B,L] -> [B,L,D].
  Var operator()(const Ids& tokens, const Mask& mask, const Pass& pass) const;

  /// The positions so far of some rows, each of which goes on by itself.
  struct State {
    std::vector<core::KeyValueCache> caches;  // of each layer
    core::Lineage lineage;
    Index position = 0;
  };
  /// The next position of each row, in inference: tokens [R] -> [R,D]. The same as the last position of the call on the
  /// whole sequence under a causal mask.
  Var step(const Ids& tokens, State& state) const;

  const Var& table() const { return embedding_.weight; }
  Index most_positions() const { return positions_.most(); }

 private:
  double scale_;
  Embedding embedding_;
  Positions positions_;
  Dropout dropout_;
  std::vector<EncoderLayer> layers_;
  std::optional<LayerNorm> norm_;
};

}  // namespace tapestry
