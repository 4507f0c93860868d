#include <algorithm>
#include <numeric>

#include "autograd/ops.h"
#include "tools/adapters.h"

namespace tapestry {
namespace {

Axes axes_of(const OracleCase& c) {
  if (!c.given("axes")) return {};
  if (c.entry().hyper["axes"].is_number()) return {c.hyper<int>("axes")};
  return c.hyper<Axes>("axes");
}

bool keepdims_of(const OracleCase& c) {
  return c.hyper("keepdim", false);
}

using Reduce = Var (*)(const Var&, const Axes&, bool);

Adapter reduction(const char* op, const char* called, Reduce function) {
  return {op, called, [function](OracleCase& c) { return Outputs(function(c.in("x"), axes_of(c), keepdims_of(c))); }};
}

Adapter variance_by(const char* op, bool unbiased) {
  return {op, "tapestry::variance",
          [unbiased](OracleCase& c) { return Outputs(variance(c.in("x"), axes_of(c), unbiased, keepdims_of(c))); }};
}

Adapter deviation_by(const char* op, bool unbiased) {
  return {op, "composed: variance, sqrt", [unbiased](OracleCase& c) {
            return Outputs(sqrt(variance(c.in("x"), axes_of(c), unbiased, keepdims_of(c))));
          }};
}

Var norm1(const Var& x, const Axes& axes, bool keepdims) {
  return sum(abs(x), axes, keepdims);
}
Var norm2(const Var& x, const Axes& axes, bool keepdims) {
  return sqrt(sum(square(x), axes, keepdims));
}

// The places along `axis` of the k largest (or smallest) elements, the first of equals first.
Ids extreme_places(const Tensor& x, int axis, Index k, bool largest) {
  axis = x.shape().axis(axis);
  const std::vector<double> values = x.values();
  const Index n = x.size(axis);
  Index inner = 1;
  for (int i = axis + 1; i < x.rank(); ++i) inner *= x.size(i);
  std::vector<std::int32_t> places(static_cast<std::size_t>(x.numel() / n * k));
  std::vector<std::int32_t> order(static_cast<std::size_t>(n));
  for (Index row = 0; row < x.numel() / n; ++row) {
    const Index outer = row / inner, offset = row % inner;
    const auto value = [&](Index i) { return values[static_cast<std::size_t>((outer * n + i) * inner + offset)]; };
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return largest ? value(a) > value(b) : value(a) < value(b); });
    for (Index i = 0; i < k; ++i)
      places[static_cast<std::size_t>((outer * k + i) * inner + offset)] = order[static_cast<std::size_t>(i)];
  }
  return Ids(std::move(places), x.shape().with(axis, k));
}

Outputs topk(OracleCase& c) {
  if (!c.hyper("sorted", true)) throw NotImplemented("topk: unsorted has no defined order");
  const Var x = c.in("x");
  const int axis = c.hyper("axis", -1);
  const Ids places = extreme_places(x.value(), axis, c.hyper<Index>("k"), c.hyper("largest", true));
  Outputs outputs{{"values", gather(x, axis, places)}};
  outputs.ids["idx"] = places;
  return outputs;
}

Outputs extreme_with_index(OracleCase& c, bool largest) {
  const Var x = c.in("x");
  const int axis = c.hyper<int>("axis");
  const Ids places = extreme_places(x.value(), axis, 1, largest);
  const Shape shape = keepdims_of(c) ? places.shape() : places.shape().without(axis);
  Outputs outputs{{"values", reshape(gather(x, axis, places), shape)}};
  outputs.ids["idx"] = Ids({places.values().begin(), places.values().end()}, shape);
  return outputs;
}

}  // namespace

std::vector<Adapter> reduce_adapters() {
  return {reduction("sum", "tapestry::sum", sum),
          reduction("mean", "tapestry::mean", mean),
          reduction("amax", "tapestry::max", max),
          reduction("amin", "tapestry::min", min),
          reduction("max_all", "tapestry::max", max),
          reduction("min_all", "tapestry::min", min),
          reduction("logsumexp", "tapestry::logsumexp", logsumexp),
          variance_by("var_unbiased", true),
          variance_by("var_biased", false),
          deviation_by("std_unbiased", true),
          deviation_by("std_biased", false),
          reduction("norm1", "composed: abs, sum", norm1),
          reduction("norm2", "composed: square, sum, sqrt", norm2),
          {"topk", "tapestry::gather", topk},
          {"max_with_index", "tapestry::gather", [](OracleCase& c) { return extreme_with_index(c, true); }},
          {"min_with_index", "tapestry::gather", [](OracleCase& c) { return extreme_with_index(c, false); }}};
}

}  // namespace tapestry
