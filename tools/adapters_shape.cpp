#include <algorithm>

#include "autograd/ops.h"
#include "tools/adapters.h"
#include "tools/expression.h"

namespace tapestry {
namespace {

using Sizes = std::vector<Index>;

// A hyperparameter that is a number or a list of them.
template <class T>
std::vector<T> list_of(const OracleCase& c, const char* key) {
  if (c.given(key) && c.entry().hyper[key].is_number()) return {c.hyper<T>(key)};
  return c.hyper<std::vector<T>>(key);
}

// The sizes with a -1 among them replaced so that `numel` elements fit.
Shape completed(Sizes sizes, Index numel) {
  Index known = 1;
  for (Index size : sizes) known *= size < 0 ? 1 : size;
  for (Index& size : sizes)
    if (size < 0) size = numel / known;
  return Shape(sizes);
}

Outputs transpose_of(OracleCase& c) {
  const auto axes = c.hyper<std::vector<int>>("dims");
  return transpose(c.in("x"), axes.at(0), axes.at(1));
}

Outputs permute_of(OracleCase& c) {
  return permute(c.in("x"), c.hyper<std::vector<int>>("dims"));
}

Outputs reshape_of(OracleCase& c) {
  if (const auto text = expression_of(c)) return evaluate(*text, c);
  return reshape(c.in("x"), completed(c.hyper<Sizes>("shape"), c.in("x").numel()));
}

Outputs flatten(OracleCase& c) {
  const Var x = c.in("x");
  const int first = x.shape().axis(c.hyper("start_dim", 0)), last = x.shape().axis(c.hyper("end_dim", -1));
  Sizes sizes(x.shape().begin(), x.shape().begin() + first);
  sizes.push_back(1);
  for (int axis = first; axis <= last; ++axis) sizes.back() *= x.size(axis);
  sizes.insert(sizes.end(), x.shape().begin() + last + 1, x.shape().end());
  return reshape(x, Shape(sizes));
}

Outputs unsqueeze(OracleCase& c) {
  const Var x = c.in("x");
  const int axis = c.hyper<int>("dim");
  return reshape(x, x.shape().inserted(axis < 0 ? axis + x.rank() + 1 : axis, 1));
}

// All axes of size 1, or those named if they are.
Outputs squeeze(OracleCase& c) {
  const Var x = c.in("x");
  std::vector<int> axes;
  if (c.given("dim"))
    for (int axis : list_of<int>(c, "dim")) axes.push_back(x.shape().axis(axis));
  Sizes sizes;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const bool meant = !c.given("dim") || std::ranges::count(axes, axis) > 0;
    if (!meant || x.size(axis) != 1) sizes.push_back(x.size(axis));
  }
  return reshape(x, Shape(sizes));
}

// PyTorch allows more sizes than axes, and -1 for a size that stays.
Outputs expand_of(OracleCase& c) {
  const Var x = c.in("x");
  auto sizes = c.hyper<Sizes>("shape");
  const auto extra = static_cast<int>(sizes.size()) - x.rank();
  for (int axis = 0; axis < x.rank(); ++axis)
    if (Index& size = sizes.at(static_cast<std::size_t>(axis + extra)); size < 0) size = x.size(axis);
  return expand(x, Shape(sizes));
}

Outputs repeat_of(OracleCase& c) {
  Var x = c.in("x");
  const auto counts = c.hyper<Sizes>("repeats");
  while (x.rank() < static_cast<int>(counts.size())) x = reshape(x, x.shape().inserted(0, 1));
  return repeat(x, counts);
}

Outputs repeat_interleave(OracleCase& c) {
  const Var x = c.in("x");
  const int axis = c.hyper<int>("dim");
  const auto repeats = list_of<std::int32_t>(c, "repeats");
  std::vector<std::int32_t> rows;
  for (Index i = 0; i < x.size(axis); ++i)
    rows.insert(rows.end(), static_cast<std::size_t>(repeats[repeats.size() == 1 ? 0 : static_cast<std::size_t>(i)]),
                static_cast<std::int32_t>(i));
  return index_select(x, axis, Ids(std::move(rows)));
}

Outputs flip_of(OracleCase& c) {
  return flip(c.in("x"), list_of<int>(c, "dims"));
}

Outputs roll_of(OracleCase& c) {
  const auto shifts = list_of<Index>(c, "shifts");
  const auto axes = list_of<int>(c, "dim");
  Var x = c.in("x");
  for (std::size_t i = 0; i < shifts.size(); ++i) x = roll(x, shifts[i], axes.at(i));
  return x;
}

// Pairs (before, after) from the last axis on.
Outputs pad_of(OracleCase& c) {
  Var x = c.in("x");
  const auto pads = c.hyper<Sizes>("pad_last_dims_first");
  for (std::size_t i = 0; i + 1 < pads.size(); i += 2)
    x = pad(x, -1 - static_cast<int>(i / 2), pads[i], pads[i + 1], c.hyper("value", 0.0));
  return x;
}

Outputs tril_of(OracleCase& c) {
  return tril(c.in("x"), c.hyper<Index>("diagonal", 0));
}
Outputs triu_of(OracleCase& c) {
  return triu(c.in("x"), c.hyper<Index>("diagonal", 0));
}

Outputs slice_of(OracleCase& c) {
  Var x = c.in("x");
  const auto begin = c.hyper<Sizes>("start"), end = c.hyper<Sizes>("end"), step = c.hyper<Sizes>("step");
  for (std::size_t axis = 0; axis < begin.size(); ++axis)
    x = slice(x, static_cast<int>(axis), begin[axis], end.at(axis), step.at(axis));
  return x;
}

Outputs select_of(OracleCase& c) {
  return select(c.in("x"), c.hyper<int>("dim"), c.hyper<Index>("index"));
}

std::vector<Var> inputs_of(OracleCase& c) {
  std::vector<Var> parts;
  for (const std::string& name : c.entry().inputs) parts.push_back(c.in(name));
  return parts;
}

Outputs concat_of(OracleCase& c) {
  if (const auto text = expression_of(c)) return evaluate(*text, c);
  return concat(inputs_of(c), c.hyper<int>("axis"));
}

Outputs stack_of(OracleCase& c) {
  return stack(inputs_of(c), c.hyper<int>("axis"));
}

// The parts are named in the order of the outputs.
Outputs split_of(OracleCase& c) {
  const auto parts = split(c.in("x"), c.hyper<Sizes>("sizes"), c.hyper<int>("axis"));
  require(parts.size() == c.entry().outputs.size(), "split: {} parts have {} names", parts.size(),
          c.entry().outputs.size());
  Outputs outputs;
  for (std::size_t i = 0; i < parts.size(); ++i) outputs.tensors[c.entry().outputs[i]] = parts[i];
  return outputs;
}

Outputs chunk(OracleCase& c) {
  const Var x = c.in("x");
  const int axis = c.hyper<int>("axis");
  const auto n = c.hyper<Index>("chunks");
  const auto parts = split(x, Sizes(static_cast<std::size_t>(n), x.size(axis) / n), axis);
  if (c.entry().variant == "gates")
    return sigmoid(parts.at(1)) + sigmoid(parts[0]) * tanh(parts[2]) * sigmoid(parts[3]);
  if (c.entry().variant == "one_unused") return parts.at(0) * parts.at(2);
  throw NotImplemented("chunk: unknown form " + c.entry().variant);
}

}  // namespace

std::vector<Adapter> shape_adapters() {
  return {{"transpose", "tapestry::transpose", transpose_of},
          {"permute", "tapestry::permute", permute_of},
          {"reshape", "tapestry::reshape", reshape_of},
          {"reshape_view", "tapestry::slice, reshape", reshape_of},
          {"flatten", "tapestry::reshape", flatten},
          {"unsqueeze", "tapestry::reshape", unsqueeze},
          {"squeeze", "tapestry::reshape", squeeze},
          {"expand", "tapestry::expand", expand_of},
          {"repeat", "tapestry::repeat", repeat_of},
          {"repeat_interleave", "tapestry::index_select", repeat_interleave},
          {"flip", "tapestry::flip", flip_of},
          {"roll", "tapestry::roll", roll_of},
          {"pad", "tapestry::pad", pad_of},
          {"tril", "tapestry::tril", tril_of},
          {"triu", "tapestry::triu", triu_of},
          {"slice", "tapestry::slice", slice_of},
          {"select", "tapestry::select", select_of},
          {"concat", "tapestry::concat", concat_of},
          {"stack", "tapestry::stack", stack_of},
          {"split", "tapestry::split", split_of},
          {"chunk", "tapestry::split", chunk}};
}

}  // namespace tapestry
