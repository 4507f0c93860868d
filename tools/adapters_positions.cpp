#include <algorithm>
#include <cmath>

#include "autograd/ops.h"
#include "nn/linear.h"
#include "nn/positional_encoding.h"
#include "tools/adapters.h"

namespace tapestry {
namespace {

Outputs table(OracleCase& c) {
  return Var(PositionalEncoding(c.hyper<Index>("dim"), c.dtype())(0, c.hyper<Index>("length")));
}

// Rows asked for one by one, in the order given, so that the table has to grow.
Outputs rows(OracleCase& c) {
  const PositionalEncoding positions(c.hyper<Index>("dim"), c.dtype());
  std::vector<Var> found;
  for (auto position : c.ids("pos").values()) found.emplace_back(positions(position, 1));
  return concat(found, 0);
}

Var with_positions(const Var& x) {
  return x + Var(PositionalEncoding(x.size(2), x.dtype())(0, x.size(1)));  // [B,L,D]
}

Outputs added(OracleCase& c) {
  return with_positions(c.in("x"));
}

Outputs embedded(OracleCase& c) {
  const auto width = c.hyper<Index>("dim");
  const Embedding table(c.scope() / "0", c.hyper<Index>("vocab"), width);
  c.load();
  return with_positions(table(c.ids("ids")) * std::sqrt(static_cast<double>(width)));
}

}  // namespace

std::vector<Adapter> position_adapters() {
  return {{"sinusoid", "nn: PositionalEncoding", table},
          {"sinusoid_rows", "nn: PositionalEncoding", rows},
          {"d2l_posenc", "nn: PositionalEncoding", added},
          {"d2l_embed_scale", "nn: Embedding, PositionalEncoding", embedded}};
}

}  // namespace tapestry
