#include "models/seq2seq.h"

#include "autograd/shape_ops.h"

namespace tapestry {

RecurrentEncoder::Output RecurrentEncoder::operator()(const Ids& source, const Ids& lengths, const Pass& pass) const {
  Recurrent::Output encoded = rnn_(embedding_(source), {}, lengths, pass);
  const auto& final = encoded.final;
  Output output{std::move(encoded.sequence), final.back().h, {}};
  if (directions_ == 2) output.summary = concat({final[final.size() - 2].h, final.back().h}, 1);  // [B,2H]
  const auto step = static_cast<std::size_t>(directions_);
  for (std::size_t i = step - 1; i < final.size(); i += step) output.start.push_back(final[i]);
  return output;
}

Seq2Seq::Seq2Seq(const ModelShape& shape, const Scope& scope)
    : encoder_(scope / "encoder", shape),
      embedding_(scope / "decoder" / "embedding", shape.target_vocabulary, shape.embed),
      rnn_(scope / "decoder" / "rnn", shape.embed + encoder_.width(), shape.hidden,
           {shape.cell, shape.layers, false, shape.dropout}),
      dense_(scope / "decoder" / "dense", shape.hidden, shape.target_vocabulary) {}

DecoderState Seq2Seq::encode(const Ids& source, const Ids& lengths, const Pass& pass) const {
  RecurrentEncoder::Output encoded = encoder_(source, lengths, pass);
  DecoderState state;
  state.memory = std::move(encoded.summary);  // [B,W]
  state.lengths = lengths;
  state.hidden = std::move(encoded.start);
  return state;
}

EncoderDecoder::Step Seq2Seq::step(const Ids& previous, DecoderState& state, const Pass& pass) const {
  const Index batch = state.memory.size(0), width = state.memory.size(1), beam = state.beam;
  const Var contexts = expand(reshape(state.memory, {batch, 1, width}), {batch, beam, width});  // [B,K,W]
  const Var x = concat({embedding_(previous), reshape(contexts, {batch * beam, width})}, 1);    // [R,E+W]
  return {rnn_.step(x, state.hidden, pass, state.position++), {}};
}

EncoderDecoder::Forced Seq2Seq::teacher_forced(const Ids& inputs, DecoderState state, const Pass& pass, bool) const {
  const Index batch = inputs.size(0), steps = inputs.size(1), width = state.memory.size(1);
  const Var context = expand(reshape(state.memory, {batch, 1, width}), {batch, steps, width});
  const Var x = concat({embedding_(inputs), context}, 2);  // [B,T,E+W]
  return {rnn_(x, state.hidden, {}, pass).sequence, {}};
}

}  // namespace tapestry
