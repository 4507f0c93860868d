#include "autograd/ops.h"
#include "nn/linear.h"
#include "tools/adapters.h"

namespace tapestry {
namespace {

Outputs gather_of(OracleCase& c) {
  return gather(c.in("x"), c.hyper<int>("dim"), c.ids("idx"));
}

Outputs scatter_add_of(OracleCase& c) {
  return scatter_add(c.in("x"), c.hyper<int>("dim"), c.ids("idx"), c.in("src"));
}

Outputs index_select_of(OracleCase& c) {
  return index_select(c.in("x"), c.hyper<int>("dim"), c.ids("idx"));
}

// y[k] = x[i[k], j[k]] is a choice from the elements in a row.
Outputs index_pairs(OracleCase& c) {
  const Var x = c.in("x");
  const Ids rows = c.ids("i"), columns = c.ids("j");
  require(x.rank() == 2 && rows.shape() == columns.shape(), "index: a matrix and as many rows as columns are needed");
  std::vector<std::int32_t> places;
  const auto wrapped = [](Index i, Index size) { return i < 0 ? i + size : i; };
  for (Index k = 0; k < rows.numel(); ++k)
    places.push_back(
        static_cast<std::int32_t>(wrapped(rows[k], x.size(0)) * x.size(1) + wrapped(columns[k], x.size(1))));
  return index_select(reshape(x, {x.numel()}), 0, Ids(std::move(places), rows.shape()));
}

// PyTorch's padding_idx: that row is read like the others and learns nothing.
Outputs embedding_layer(OracleCase& c) {
  const Embedding layer(c.scope(), c.hyper<Index>("num"), c.hyper<Index>("dim"));
  c.load();
  if (!c.given("padding_idx")) return layer(c.ids("ids"));
  const Index rows = layer.weight.size(0), padding = (c.hyper<Index>("padding_idx") + rows) % rows;
  std::vector<std::int32_t> frozen(static_cast<std::size_t>(rows), 0);
  frozen[static_cast<std::size_t>(padding)] = 1;
  return embedding(where(Ids(std::move(frozen), {rows, 1}), layer.weight.detach(), layer.weight), c.ids("ids"));
}

// Rows of the identity matrix.
Outputs one_hot(OracleCase& c) {
  const Index n = c.hyper<Index>("num_classes");
  const Var identity = tril(triu(Var(Tensor::full({n, n}, 1, c.dtype()))));
  const Var rows = embedding(identity, c.ids("ids"));
  std::vector<std::int32_t> values;
  for (double value : rows.value().values()) values.push_back(static_cast<std::int32_t>(value));
  Outputs outputs;
  outputs.ids["y"] = Ids(std::move(values), rows.shape());
  return outputs;
}

}  // namespace

std::vector<Adapter> indexing_adapters() {
  return {{"gather", "tapestry::gather", gather_of},
          {"scatter_add", "tapestry::scatter_add", scatter_add_of},
          {"index_select", "tapestry::index_select", index_select_of},
          {"index", "tapestry::index_select", index_pairs},
          {"embedding", "nn: Embedding (tapestry::embedding)", embedding_layer},
          {"one_hot", "tapestry::embedding", one_hot}};
}

}  // namespace tapestry
