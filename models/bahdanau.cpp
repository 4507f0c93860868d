#include "models/bahdanau.h"

#include "autograd/shape_ops.h"

namespace tapestry {

Bahdanau::Bahdanau(const ModelShape& shape, const Scope& scope)
    : encoder_(scope / "encoder", shape),
      attention_(scope / "decoder" / "attention", encoder_.width(), shape.hidden,
                 {shape.score, shape.normaliser, shape.hidden, shape.dropout}),
      embedding_(scope / "decoder" / "embedding", shape.target_vocabulary, shape.embed),
      rnn_(scope / "decoder" / "rnn", shape.embed + encoder_.width(), shape.hidden,
           {shape.cell, shape.layers, false, shape.dropout}),
      dense_(scope / "decoder" / "dense", shape.hidden, shape.target_vocabulary) {}

DecoderState Bahdanau::encode(const Ids& source, const Ids& lengths, const Pass& pass) const {
  RecurrentEncoder::Output encoded = encoder_(source, lengths, pass);
  DecoderState state;
  state.hidden = std::move(encoded.start);
  state.memory = std::move(encoded.sequence);     // [B,S,W]
  state.keys = attention_.project(state.memory);  // [B,S,H]
  state.lengths = lengths;
  return state;
}

EncoderDecoder::Step Bahdanau::step(const Ids& previous, DecoderState& state, const Pass& pass) const {
  const Var& top = state.hidden.back().h;
  const Index rows = top.size(0), width = top.size(1), beam = state.beam;
  const auto [context, weights] = attention_(reshape(top, {rows / beam, beam, width}), state.keys, state.memory,
                                             state.mask(), pass, state.position);  // [B,K,W], [B,K,S]
  const Var x = concat({reshape(context, {rows, -1}), embedding_(previous)}, 1);   // [R,W+E]
  return {rnn_.step(x, state.hidden, pass, state.position++), reshape(weights, {rows, weights.size(2)})};
}

}  // namespace tapestry
