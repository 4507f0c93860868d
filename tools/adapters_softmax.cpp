#include "autograd/ops.h"
#include "tools/adapters.h"
#include "tools/book_attention.h"

namespace tapestry {
namespace {

// Of x, or of x with `value` at the hidden places.
Var masked_input(OracleCase& c) {
  return c.has("in.mask") ? masked_fill(c.in("x"), c.ids("mask"), c.hyper<double>("value")) : c.in("x");
}

Outputs softmax_of(OracleCase& c) {
  return softmax(masked_input(c), c.hyper("axis", -1));
}

Outputs log_softmax_of(OracleCase& c) {
  return log_softmax(masked_input(c), c.hyper("axis", -1));
}

Outputs masked_softmax_of(OracleCase& c) {
  if (!c.has("in.valid_lens")) return softmax(c.in("x"));
  const Ids lengths = c.ids("valid_lens");
  return book_weights(masked_softmax(c.in("x"), Mask::lengths(lengths)), lengths);
}

// x [B,T,...] with `value` from each sentence's length on.
Outputs sequence_mask(OracleCase& c) {
  const Var x = c.in("x");
  const Ids lengths = c.ids("valid_lens");
  std::vector<std::int32_t> hidden;
  for (Index b = 0; b < x.size(0); ++b)
    for (Index t = 0; t < x.size(1); ++t) hidden.push_back(t >= lengths[b] ? 1 : 0);
  std::vector<Index> sizes(static_cast<std::size_t>(x.rank()), 1);
  sizes[0] = x.size(0);
  sizes[1] = x.size(1);
  return masked_fill(x, Ids(std::move(hidden), Shape(sizes)), c.hyper("value", 0.0));
}

Outputs subsequent_mask(OracleCase& c) {
  const auto size = c.hyper<Index>("size");
  const Mask mask = Mask::causal();
  std::vector<std::int32_t> allowed;
  for (Index q = 0; q < size; ++q) {
    const Mask::Interval keys = mask.keys(0, q, size);
    for (Index k = 0; k < size; ++k) allowed.push_back(keys.begin <= k && k < keys.end ? 1 : 0);
  }
  Outputs outputs;
  outputs.ids["y"] = Ids(std::move(allowed), {1, size, size});
  return outputs;
}

}  // namespace

std::vector<Adapter> softmax_adapters() {
  return {{"softmax", "tapestry::softmax", softmax_of},
          {"log_softmax", "tapestry::log_softmax", log_softmax_of},
          {"masked_softmax", "tapestry::masked_softmax", masked_softmax_of},
          {"sequence_mask", "tapestry::masked_fill", sequence_mask},
          {"subsequent_mask", "Mask::causal", subsequent_mask}};
}

}  // namespace tapestry
