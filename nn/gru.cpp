#include "nn/gru.h"

#include "autograd/recurrent.h"
#include "autograd/shape_ops.h"

namespace tapestry {
namespace {

// Between layers each has its own masks: the position says the time step, the stream the layer.
Dropout for_layer(Dropout dropout, Index layer) {
  dropout.stream += static_cast<std::uint64_t>(layer);
  return dropout;
}

}  // namespace

Gru::Gru(const Scope& scope, Index input, Index hidden, const GruOptions& options)
    : hidden_(hidden), options_(options), reference_(scope.reference()), dropout_(scope, options.dropout) {
  require(input > 0 && hidden > 0 && options.layers > 0,
          "gru: widths and layers must be above 0; given input {}, hidden {}, layers {}", input, hidden,
          options.layers);
  const auto matrix = initialise::xavier_uniform();
  const auto vector = initialise::fan_in_uniform(hidden);
  const Index directions = options.bidirectional ? 2 : 1;
  for (Index layer = 0; layer < options.layers; ++layer) {
    for (Index direction = 0; direction < directions; ++direction) {
      const auto suffix = fmt::format("_l{}{}", layer, direction == 1 ? "_reverse" : "");
      const Index in = layer == 0 ? input : directions * hidden;
      weights_.push_back({scope.parameter("weight_ih" + suffix, {3 * hidden, in}, matrix),
                          scope.parameter("weight_hh" + suffix, {3 * hidden, hidden}, matrix),
                          scope.parameter("bias_ih" + suffix, {3 * hidden}, vector),
                          scope.parameter("bias_hh" + suffix, {3 * hidden}, vector)});
    }
  }
}

Gru::Output Gru::operator()(const Var& x, const std::vector<Var>& initial, const Ids& lengths, const Pass& pass) const {
  const std::size_t directions = options_.bidirectional ? 2 : 1;
  require(initial.empty() || initial.size() == weights_.size(),
          "gru: one initial state for each layer and direction is needed ({}); given {}", weights_.size(),
          initial.size());
  Output output{x, {}};
  for (std::size_t w = 0; w < weights_.size(); w += directions) {
    const Index layer = static_cast<Index>(w / directions);
    if (layer > 0) output.sequence = for_layer(dropout_, layer)(output.sequence, pass);
    std::vector<Var> sequences;
    for (std::size_t direction = 0; direction < directions; ++direction) {
      const Weights& p = weights_[w + direction];
      const Var h0 = initial.empty() ? Var() : initial[w + direction];
      const auto run = reference_ ? gru_reference : gru;
      auto [y, h_n] = run(output.sequence, h0, p.ih, p.hh, p.bias_ih, p.bias_hh, lengths, direction == 1);
      sequences.push_back(std::move(y));
      output.final.push_back(std::move(h_n));
    }
    output.sequence = directions == 1 ? sequences[0] : concat(sequences, 2);  // [B,T,2H]
  }
  return output;
}

Var Gru::step(const Var& x, std::vector<Var>& states, const Pass& pass, Index position) const {
  require(!options_.bidirectional && states.size() == weights_.size(),
          "gru: a step needs one direction and one state for each of {} layers; given {} directions and {} states",
          options_.layers, options_.bidirectional ? 2 : 1, states.size());
  Var input = x;
  for (std::size_t layer = 0; layer < weights_.size(); ++layer) {
    if (layer > 0) input = for_layer(dropout_, static_cast<Index>(layer))(input, pass, position);
    const Weights& p = weights_[layer];
    const auto cell = reference_ ? gru_cell_reference : gru_cell;
    input = states[layer] = cell(input, states[layer], p.ih, p.hh, p.bias_ih, p.bias_hh);
  }
  return input;
}

}  // namespace tapestry
