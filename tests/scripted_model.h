#pragma once
// Models for tests of decoding: one whose every probability is written down, and random ones with a decided opinion.

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "autograd/ops.h"
#include "models/batch.h"
#include "models/decoding.h"
#include "tests/model_variants.h"

namespace tapestry {

/// Says token v after token u with probability table[u][v], whatever the source. Counts its steps.
class ScriptedModel : public EncoderDecoder {
 public:
  using Table = std::map<std::int32_t, std::map<std::int32_t, double>>;
  static constexpr Index words = 6;  // a is 4, b is 5

  explicit ScriptedModel(const Table& table) : store_(DType::f64, 1), output_(Scope(store_), words, words, false) {
    output_.weight.value().fill(-1e6);
    for (const auto& [before, after] : table)
      for (const auto& [token, p] : after) output_.weight.value().set(token * words + before, std::log(p));
  }

  DecoderState encode(const Ids&, const Ids& lengths, const Pass&) const override {
    DecoderState state;
    state.lengths = lengths;
    return state;
  }
  Step step(const Ids& previous, DecoderState& state, const Pass&) const override {
    ++steps;
    ++state.position;
    const Tensor one_hot = Tensor::zeros({previous.numel(), words}, DType::f64);
    for (Index r = 0; r < previous.numel(); ++r) one_hot.set(r * words + previous[r], 1);
    return {Var(one_hot), {}};
  }
  const Linear& output() const override { return output_; }

  mutable int steps = 0;

 private:
  ParameterStore store_;
  Linear output_;
};

/// An untrained model whose parameters are `sharpness` times as large as they were drawn (those of a Transformer a
/// third of that, for its norms would make it too sure), so that its probabilities are far from even.
struct RandomModel {
  RandomModel(const std::string& name, DType dtype, std::uint64_t seed, Index target_words = 6, double sharpness = 3)
      : store(dtype, seed), model(make_model(shape(name, target_words), Scope(store))) {
    const double factor = name == "transformer" ? sharpness / 3 : sharpness;
    for (const Var& parameter : store.parameters())
      for (Index i = 0; i < parameter.numel(); ++i) parameter.value().set(i, factor * parameter.value().at(i));
    const Tensor bias = model->output().bias.value();
    bias.set(Vocabulary::eos, bias.at(Vocabulary::eos) + 2);  // so that some end before the limit
  }
  static ModelShape shape(const std::string& name, Index target_words) {
    ModelShape shape{name, 9, target_words, 8, 8, 2, 0};
    shape.transformer = {8, 12, 2, 2};
    return variant(name, shape);
  }
  ParameterStore store;
  std::unique_ptr<EncoderDecoder> model;
};

/// Log-probabilities of whole token sequences (with <eos> if they ended) and their attention [T,S], teacher-forced.
struct ForcedScore {
  double log_probability = 0;
  Tensor attention;
};
inline std::vector<ForcedScore> forced_scores(const EncoderDecoder& model, const TokenIds& source,
                                              const std::vector<TokenIds>& sequences) {
  const NoRecord inference;
  std::vector<Example> examples;
  for (const TokenIds& sequence : sequences) examples.push_back({source, sequence});
  const MicroBatch rows = all_rows(examples);
  const Batch batch = make_batch(rows);
  const auto forced =
      model.teacher_forced(batch.inputs, model.encode(batch.source.ids, batch.source.lengths, Pass{}), Pass{}, true);
  const Tensor p = log_softmax(model.output()(forced.features)).value();  // [B,T,V]
  std::vector<ForcedScore> scores(sequences.size());
  for (std::size_t b = 0; b < sequences.size(); ++b) {
    const auto row = static_cast<Index>(b), length = static_cast<Index>(sequences[b].size());
    for (Index t = 0; t < length; ++t)
      scores[b].log_probability += p.at((row * p.size(1) + t) * p.size(2) + sequences[b][static_cast<std::size_t>(t)]);
    if (forced.attention) scores[b].attention = select(forced.attention, 0, row).value().rows(0, length);
  }
  return scores;
}

/// What a translation was scored for: its tokens, and <eos> if it ended.
inline TokenIds said(const Translation& translation) {
  TokenIds tokens = translation.ids;
  if (translation.ended) tokens.push_back(Vocabulary::eos);
  return tokens;
}

/// Sources of different lengths for a RandomModel.
inline const std::vector<TokenIds> some_sources{{4, 5, 6, 3}, {8, 3}, {7, 7, 4, 8, 5, 3}, {5, 6, 3}, {6, 3}};

}  // namespace tapestry
