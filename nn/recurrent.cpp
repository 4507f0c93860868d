#include "nn/recurrent.h"

#include "autograd/shape_ops.h"

namespace tapestry {
namespace {

core::Cell cell_named(const std::string& name) {
  require_one_of("cell", name, cell_names());
  return name == "rnn" ? core::Cell::rnn : name == "gru" ? core::Cell::gru : core::Cell::lstm;
}

// Between layers each has its own masks: the position says the time step, the stream the layer.
Dropout for_layer(Dropout dropout, Index layer) {
  dropout.stream += static_cast<std::uint64_t>(layer);
  return dropout;
}

}  // namespace

const std::vector<std::string>& cell_names() {
  static const std::vector<std::string> names{"rnn", "gru", "lstm"};
  return names;
}

Recurrent::Recurrent(const Scope& scope, Index input, Index hidden, const RecurrentOptions& options)
    : hidden_(hidden),
      options_(options),
      cell_(cell_named(options.cell)),
      reference_(scope.reference()),
      dropout_(scope, options.dropout) {
  require(input > 0 && hidden > 0 && options.layers > 0,
          "{}: widths and layers must be above 0; given input {}, hidden {}, layers {}", options.cell, input, hidden,
          options.layers);
  const auto matrix = initialise::xavier_uniform();
  const auto vector = initialise::fan_in_uniform(hidden);
  const Index directions = options.bidirectional ? 2 : 1, rows = core::gate_count(cell_) * hidden;
  for (Index layer = 0; layer < options.layers; ++layer) {
    for (Index direction = 0; direction < directions; ++direction) {
      const auto suffix = fmt::format("_l{}{}", layer, direction == 1 ? "_reverse" : "");
      const Index in = layer == 0 ? input : directions * hidden;
      weights_.push_back({scope.parameter("weight_ih" + suffix, {rows, in}, matrix),
                          scope.parameter("weight_hh" + suffix, {rows, hidden}, matrix),
                          scope.parameter("bias_ih" + suffix, {rows}, vector),
                          scope.parameter("bias_hh" + suffix, {rows}, vector)});
    }
  }
}

RecurrentOutput Recurrent::run(const Weights& p, const Var& x, const RecurrentState& first, const Ids& lengths,
                               bool reverse) const {
  if (cell_ == core::Cell::lstm)
    return (reference_ ? lstm_reference : lstm)(x, first.h, first.c, p.ih, p.hh, p.bias_ih, p.bias_hh, lengths,
                                                reverse);
  const auto gru_or_rnn =
      cell_ == core::Cell::gru ? (reference_ ? gru_reference : gru) : (reference_ ? rnn_reference : rnn);
  return gru_or_rnn(x, first.h, p.ih, p.hh, p.bias_ih, p.bias_hh, lengths, reverse);
}

RecurrentState Recurrent::run_cell(const Weights& p, const Var& x, const RecurrentState& state) const {
  if (cell_ == core::Cell::lstm)
    return (reference_ ? lstm_cell_reference : lstm_cell)(x, state.h, state.c, p.ih, p.hh, p.bias_ih, p.bias_hh);
  const auto gru_or_rnn = cell_ == core::Cell::gru ? (reference_ ? gru_cell_reference : gru_cell)
                                                   : (reference_ ? rnn_cell_reference : rnn_cell);
  return {gru_or_rnn(x, state.h, p.ih, p.hh, p.bias_ih, p.bias_hh), {}};
}

Recurrent::Output Recurrent::operator()(const Var& x, const std::vector<RecurrentState>& initial, const Ids& lengths,
                                        const Pass& pass) const {
  const std::size_t directions = options_.bidirectional ? 2 : 1;
  require(initial.empty() || initial.size() == weights_.size(),
          "{}: one initial state for each layer and direction is needed ({}); given {}", options_.cell, weights_.size(),
          initial.size());
  Output output{x, {}};
  for (std::size_t w = 0; w < weights_.size(); w += directions) {
    const Index layer = static_cast<Index>(w / directions);
    if (layer > 0) output.sequence = for_layer(dropout_, layer)(output.sequence, pass);
    std::vector<Var> sequences;
    for (std::size_t direction = 0; direction < directions; ++direction) {
      const RecurrentState first = initial.empty() ? RecurrentState() : initial[w + direction];
      auto [y, h_n, c_n] = run(weights_[w + direction], output.sequence, first, lengths, direction == 1);
      sequences.push_back(std::move(y));
      output.final.push_back({std::move(h_n), std::move(c_n)});
    }
    output.sequence = directions == 1 ? sequences[0] : concat(sequences, 2);  // [B,T,2H]
  }
  return output;
}

Var Recurrent::step(const Var& x, std::vector<RecurrentState>& states, const Pass& pass, Index position) const {
  require(!options_.bidirectional && states.size() == weights_.size(),
          "{}: a step needs one direction and one state for each of {} layers; given {} directions and {} states",
          options_.cell, options_.layers, options_.bidirectional ? 2 : 1, states.size());
  Var input = x;
  for (std::size_t layer = 0; layer < weights_.size(); ++layer) {
    if (layer > 0) input = for_layer(dropout_, static_cast<Index>(layer))(input, pass, position);
    states[layer] = run_cell(weights_[layer], input, states[layer]);
    input = states[layer].h;
  }
  return input;
}

}  // namespace tapestry
