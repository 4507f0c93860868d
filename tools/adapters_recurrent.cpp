#include "autograd/ops.h"
#include "autograd/recurrent.h"
#include "nn/recurrent.h"
#include "tools/adapters.h"

namespace tapestry {
namespace {

// Sequences here are [B,T,.], in the oracle [T,B,.] unless `batch_first`; its states are [layers * directions, B, H].
Outputs layers(const std::string& cell, OracleCase& c) {
  const bool batch_first = c.hyper("batch_first", false);
  const Recurrent layer(c.scope(), c.hyper<Index>("input_size"), c.hyper<Index>("hidden_size"),
                        {cell, c.hyper<Index>("num_layers", 1), c.hyper("bidirectional", false), 0});
  c.load();
  const Var x = batch_first ? c.in("x") : transpose(c.in("x"), 0, 1);
  std::vector<RecurrentState> initial;
  if (c.has("in.h0"))
    for (Index i = 0; i < c.in("h0").size(0); ++i)
      initial.push_back({select(c.in("h0"), 0, i), c.has("in.c0") ? select(c.in("c0"), 0, i) : Var()});
  const Ids lengths = c.has("in.lengths") ? c.ids("lengths") : Ids();
  const Recurrent::Output output = layer(x, initial, lengths, Pass());
  std::vector<Var> h_n, c_n;
  for (const RecurrentState& state : output.final) {
    h_n.push_back(state.h);
    c_n.push_back(state.c);
  }
  Outputs outputs{{"y", batch_first ? output.sequence : transpose(output.sequence, 0, 1)}, {"h_n", stack(h_n, 0)}};
  if (cell == "lstm") outputs.tensors["c_n"] = stack(c_n, 0);
  return outputs;
}

template <class Cell>
Outputs cell_of_one_state(Cell cell, OracleCase& c) {
  return cell(c.in("x"), c.in("h"), c.param("weight_ih"), c.param("weight_hh"), c.param("bias_ih"), c.param("bias_hh"));
}

Outputs cell_of_two_states(OracleCase& c) {
  const RecurrentState next = lstm_cell(c.in("x"), c.in("h"), c.in("c"), c.param("weight_ih"), c.param("weight_hh"),
                                        c.param("bias_ih"), c.param("bias_hh"));
  return {{"h1", next.h}, {"c1", next.c}};
}

}  // namespace

std::vector<Adapter> recurrent_adapters() {
  std::vector<Adapter> adapters{
      {"rnn_cell", "tapestry::rnn_cell", [](OracleCase& c) { return cell_of_one_state(rnn_cell, c); }},
      {"gru_cell", "tapestry::gru_cell", [](OracleCase& c) { return cell_of_one_state(gru_cell, c); }},
      {"lstm_cell", "tapestry::lstm_cell", cell_of_two_states}};
  for (const std::string& cell : cell_names())
    for (const char* kind : {"", "_packed"})
      adapters.push_back(
          {cell + kind, "nn: Recurrent (tapestry::" + cell + ")", [cell](OracleCase& c) { return layers(cell, c); }});
  return adapters;
}

}  // namespace tapestry
