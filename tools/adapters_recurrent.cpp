#include "autograd/ops.h"
#include "autograd/recurrent.h"
#include "nn/gru.h"
#include "tools/adapters.h"

namespace tapestry {
namespace {

// Sequences here are [B,T,.], in the oracle [T,B,.] unless `batch_first`; its states are [layers * directions, B, H].
Outputs gru_layers(OracleCase& c) {
  const bool batch_first = c.hyper("batch_first", false);
  const Gru layer(c.scope(), c.hyper<Index>("input_size"), c.hyper<Index>("hidden_size"),
                  {c.hyper<Index>("num_layers", 1), c.hyper("bidirectional", false), 0});
  c.load();
  const Var x = batch_first ? c.in("x") : transpose(c.in("x"), 0, 1);
  std::vector<Var> initial;
  if (c.has("in.h0"))
    for (Index i = 0; i < c.in("h0").size(0); ++i) initial.push_back(select(c.in("h0"), 0, i));
  const Ids lengths = c.has("in.lengths") ? c.ids("lengths") : Ids();
  const Gru::Output output = layer(x, initial, lengths, Pass());
  return {{"y", batch_first ? output.sequence : transpose(output.sequence, 0, 1)}, {"h_n", stack(output.final, 0)}};
}

Outputs cell(OracleCase& c) {
  return gru_cell(c.in("x"), c.in("h"), c.param("weight_ih"), c.param("weight_hh"), c.param("bias_ih"),
                  c.param("bias_hh"));
}

}  // namespace

std::vector<Adapter> recurrent_adapters() {
  return {{"gru", "nn: Gru (tapestry::gru)", gru_layers},
          {"gru_packed", "nn: Gru (tapestry::gru)", gru_layers},
          {"gru_cell", "tapestry::gru_cell", cell}};
}

}  // namespace tapestry
