#include "models/encoder_decoder.h"

#include <algorithm>

#include "autograd/indexing.h"
#include "autograd/shape_ops.h"
#include "models/bahdanau.h"
#include "models/bahdanau_paper.h"
#include "models/seq2seq.h"
#include "models/transformer.h"

namespace tapestry {

void EncoderDecoder::select(DecoderState& state, const Ids& parents, const Ids& sentences) const {
  for (RecurrentState& layer : state.hidden) {
    layer.h = index_select(layer.h, 0, parents);
    if (layer.c) layer.c = index_select(layer.c, 0, parents);
  }
  if (sentences) {
    if (state.memory) state.memory = index_select(state.memory, 0, sentences);
    if (state.keys) state.keys = index_select(state.keys, 0, sentences);
    std::vector<std::int32_t> lengths;
    for (const std::int32_t b : sentences.values()) lengths.push_back(state.lengths[b]);
    state.lengths = Ids(std::move(lengths));
  }
  state.beam = parents.numel() / std::max<Index>(state.lengths.numel(), 1);
}

EncoderDecoder::Forced EncoderDecoder::teacher_forced(const Ids& inputs, DecoderState state, const Pass& pass,
                                                      bool attention) const {
  std::vector<Var> features, weights;
  for (Index t = 0; t < inputs.size(1); ++t) {
    Step now = step(inputs.column(t), state, pass);
    features.push_back(std::move(now.features));
    if (attention && now.attention) weights.push_back(std::move(now.attention));
  }
  return {stack(features, 1), weights.empty() ? Var() : stack(weights, 1)};  // [B,T,F], [B,T,S]
}

const std::vector<std::string>& model_names() {
  static const std::vector<std::string> names{"bahdanau", "bahdanau-paper", "seq2seq", "transformer"};
  return names;
}

std::unique_ptr<EncoderDecoder> make_model(const ModelShape& shape, const Scope& scope) {
  require_one_of("model", shape.model, model_names());
  if (shape.model == "bahdanau") return std::make_unique<Bahdanau>(shape, scope);
  if (shape.model == "bahdanau-paper") return std::make_unique<BahdanauPaper>(shape, scope);
  if (shape.model == "seq2seq") return std::make_unique<Seq2Seq>(shape, scope);
  return std::make_unique<Transformer>(shape, scope);
}

}  // namespace tapestry
