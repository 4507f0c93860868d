#include "models/transformer.h"

#include <cmath>

#include "autograd/elementwise.h"
#include "autograd/indexing.h"
#include "autograd/reduce.h"
#include "autograd/shape_ops.h"

namespace tapestry {
namespace {

Embedding target_embedding(const ModelShape& shape, const Scope& scope, const Embedding& source) {
  if (shape.tie != "all")
    return Embedding(scope, shape.target_vocabulary, shape.transformer.width, shape.embedding_spread);
  require(shape.source_vocabulary == shape.target_vocabulary,
          "transformer: one table for all embeddings needs one vocabulary for both sides; given {} and {} words",
          shape.source_vocabulary, shape.target_vocabulary);
  return Embedding(scope, source.weight);
}

Linear output_layer(const ModelShape& shape, const Scope& scope, const Embedding& target) {
  if (shape.tie == "none") return Linear::with_zero_bias(scope, shape.transformer.width, shape.target_vocabulary);
  scope.tie("weight", target.weight);
  return Linear(target.weight, Var(), scope.reference());
}

}  // namespace

Transformer::Transformer(const ModelShape& shape, const Scope& scope)
    : scale_(std::sqrt(static_cast<double>(shape.transformer.width))),
      source_(scope / "src_embed", shape.source_vocabulary, shape.transformer.width, shape.embedding_spread),
      target_(target_embedding(shape, scope / "tgt_embed", source_)),
      source_positions_(scope / "src_embed" / "positions", shape.transformer.width, shape.positions),
      target_positions_(scope / "tgt_embed" / "positions", shape.transformer.width, shape.positions),
      source_dropout_(scope / "src_embed", shape.transformer.dropout),
      target_dropout_(scope / "tgt_embed", shape.transformer.dropout),
      encoder_(stack_of<EncoderLayer>(scope / "transformer" / "encoder", shape.transformer)),
      decoder_(stack_of<DecoderLayer>(scope / "transformer" / "decoder", shape.transformer)),
      output_(output_layer(shape, scope / "out", target_)) {
  if (!shape.transformer.final_norm) return;
  for (const char* stack : {"encoder", "decoder"})
    final_norms_.emplace_back(scope / "transformer" / stack / "norm", shape.transformer.width);
}

DecoderState Transformer::encode(const Ids& source, const Ids& lengths, const Pass& pass, Weights* weights) const {
  DecoderState state;
  state.lengths = lengths;
  const Mask mask = state.mask();
  Var x = source_dropout_(source_positions_(source_(source) * scale_, 0), pass);  // [B,S,D]
  for (const EncoderLayer& layer : encoder_)
    x = layer(x, mask, pass, weights != nullptr ? &weights->encoder.emplace_back() : nullptr);
  state.memory = final_norms_.empty() ? x : final_norms_[0](x);
  for (const DecoderLayer& layer : decoder_) state.attended.push_back(layer.cross_attention.project(state.memory));
  state.caches.resize(decoder_.size());
  return state;
}

DecoderState Transformer::encode(const Ids& source, const Ids& lengths, const Pass& pass) const {
  return encode(source, lengths, pass, nullptr);
}

Var Transformer::decode(const Ids& inputs, const DecoderState& state, const Pass& pass, Weights* weights,
                        const Ids& lengths) const {
  const Mask mask = state.mask(), self_mask = lengths ? Mask::causal() & Mask::lengths(lengths) : Mask::causal();
  Var x = target_dropout_(target_positions_(target_(inputs) * scale_, 0), pass);  // [B,T,D]
  for (std::size_t i = 0; i < decoder_.size(); ++i)
    x = decoder_[i](x, state.attended[i], self_mask, mask, pass,
                    weights != nullptr ? &weights->decoder.emplace_back() : nullptr);
  return final_norms_.empty() ? x : final_norms_[1](x);
}

Var Transformer::cross_attention(const Weights& weights) {
  const std::size_t layers = weights.decoder.size();
  return mean(weights.decoder[layers > 1 ? layers - 2 : 0].cross, {1});
}

EncoderDecoder::Forced Transformer::teacher_forced(const Ids& inputs, DecoderState state, const Pass& pass,
                                                   bool attention) const {
  Weights weights;
  const Var features = decode(inputs, state, pass, attention ? &weights : nullptr);
  return {features, attention ? cross_attention(weights) : Var()};
}

Var Transformer::step(const Ids& previous, DecoderState& state, Weights* weights) const {
  const NoRecord inference;
  const Mask mask = state.mask();
  // Every row continues itself until `select` says otherwise.
  std::vector<std::int32_t> rows(static_cast<std::size_t>(previous.numel()));
  for (std::size_t r = 0; r < rows.size(); ++r) rows[r] = static_cast<std::int32_t>(r);
  state.lineage.push_back(std::move(rows));
  Var x = target_positions_(target_(previous) * scale_, state.position++);  // [R,D]
  for (std::size_t i = 0; i < decoder_.size(); ++i)
    x = decoder_[i].step(x, state.caches[i], state.lineage, state.attended[i], mask,
                         weights != nullptr ? &weights->decoder.emplace_back() : nullptr);
  return final_norms_.empty() ? x : final_norms_[1](x);
}

EncoderDecoder::Step Transformer::step(const Ids& previous, DecoderState& state, const Pass& pass) const {
  require(!pass.training, "transformer: steps from a cache are inference; training has all positions at once");
  if (!state.attention) return {step(previous, state, nullptr), {}};
  Weights weights;
  const Var features = step(previous, state, &weights);
  return {features, reshape(cross_attention(weights), {previous.numel(), -1})};  // [B,K,S] -> [R,S]
}

void Transformer::select(DecoderState& state, const Ids& parents, const Ids& sentences) const {
  EncoderDecoder::select(state, parents, sentences);
  for (auto& rows : state.lineage) {
    std::vector<std::int32_t> of_parents;
    for (const std::int32_t parent : parents.values()) of_parents.push_back(rows[static_cast<std::size_t>(parent)]);
    rows = std::move(of_parents);
  }
  if (!sentences) return;
  for (MultiHeadAttention::Memory& memory : state.attended) {
    memory.keys.x = index_select(memory.keys.x, 0, sentences);
    memory.values.x = memory.keys.x;  // they stand side by side
  }
}

}  // namespace tapestry
