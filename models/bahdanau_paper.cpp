#include "models/bahdanau_paper.h"

#include "autograd/elementwise.h"
#include "autograd/reduce.h"
#include "autograd/shape_ops.h"

namespace tapestry {

BahdanauPaper::BahdanauPaper(const ModelShape& shape, const Scope& scope)
    : source_embedding_(scope / "encoder" / "embedding", shape.source_vocabulary, shape.embed),
      source_dropout_(scope / "encoder" / "embedding", shape.dropout),
      encoder_(scope / "encoder" / "rnn", shape.embed, shape.hidden, {shape.cell, shape.layers, true, shape.dropout}),
      start_(scope / "decoder" / "start", shape.hidden, shape.hidden),
      attention_(scope / "decoder" / "attention", 2 * shape.hidden, shape.hidden,
                 {shape.score, shape.normaliser, shape.hidden}),
      target_embedding_(scope / "decoder" / "embedding", shape.target_vocabulary, shape.embed),
      target_dropout_(scope / "decoder" / "embedding", shape.dropout),
      decoder_(scope / "decoder" / "rnn", 2 * shape.hidden + shape.embed, shape.hidden, {shape.cell}),
      readout_(scope / "decoder" / "readout", shape.hidden + shape.embed + 2 * shape.hidden, 2 * shape.hidden),
      readout_dropout_(scope / "decoder" / "readout", shape.dropout),
      output_(scope / "decoder" / "output", shape.hidden, shape.target_vocabulary) {}

DecoderState BahdanauPaper::encode(const Ids& source, const Ids& lengths, const Pass& pass) const {
  Recurrent::Output encoded = encoder_(source_dropout_(source_embedding_(source), pass), {}, lengths, pass);
  DecoderState state;
  state.memory = std::move(encoded.sequence);     // [B,S,2H]
  state.keys = attention_.project(state.memory);  // [B,S,H]
  state.lengths = lengths;
  const auto& [h, c] = encoded.final.back();  // of the top layer, backward
  state.hidden = {{tanh(start_(h)), c}};
  return state;
}

EncoderDecoder::Step BahdanauPaper::step(const Ids& previous, DecoderState& state, const Pass& pass) const {
  const Var before = state.hidden[0].h;  // s_{i-1} [R,H]
  const Index rows = before.size(0), width = before.size(1), beam = state.beam, position = state.position++;
  const auto [attended, weights] = attention_(reshape(before, {rows / beam, beam, width}), state.keys, state.memory,
                                              state.mask(), pass, position);  // [B,K,2H], [B,K,S]
  const Var context = reshape(attended, {rows, 2 * width});
  const Var embedded = target_dropout_(target_embedding_(previous), pass, position);  // [R,E]
  const Var t = readout_(concat({before, embedded, context}, 1));                     // [R,2H]
  const Var maxout = max(reshape(t, {rows, width, 2}), {2});                          // [R,H]
  decoder_.step(concat({context, embedded}, 1), state.hidden, pass, position);
  return {readout_dropout_(maxout, pass, position), reshape(weights, {rows, weights.size(2)})};
}

}  // namespace tapestry
