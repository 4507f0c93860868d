#include "models/uncached.h"

#include <algorithm>

#include "autograd/shape_ops.h"

namespace tapestry {

// The state stays as it was encoded, with one row a sentence; `said` and `beam` alone tell what the rows are.

EncoderDecoder::Step Uncached::step(const Ids& previous, DecoderState& state, const Pass& pass) const {
  const Index rows = previous.numel(), before = state.position;
  std::vector<std::int32_t> said, sentences;
  for (Index r = 0; r < rows; ++r) {
    for (Index t = 0; t < before; ++t) said.push_back(state.said[r * before + t]);
    said.push_back(previous[r]);
    sentences.push_back(static_cast<std::int32_t>(r / state.beam));
  }
  state.said = Ids(std::move(said), {rows, before + 1});
  ++state.position;
  DecoderState start = state;
  start.beam = 1;
  start.position = 0;
  start.said = {};
  if (state.beam > 1) {
    const Ids each(std::move(sentences));
    model_.select(start, each, each);
  }
  const Forced forced = model_.teacher_forced(state.said, std::move(start), pass, state.attention);
  return {tapestry::select(forced.features, 1, before),
          forced.attention ? tapestry::select(forced.attention, 1, before) : Var()};
}

void Uncached::select(DecoderState& state, const Ids& parents, const Ids& sentences) const {
  const Index steps = state.position;
  std::vector<std::int32_t> said;
  for (const std::int32_t parent : parents.values())
    for (Index t = 0; t < steps; ++t) said.push_back(state.said[parent * steps + t]);
  if (sentences) {
    state.beam = 1;
    model_.select(state, sentences, sentences);
  }
  state.said = Ids(std::move(said), {parents.numel(), steps});
  state.beam = parents.numel() / std::max<Index>(state.lengths.numel(), 1);
}

}  // namespace tapestry
