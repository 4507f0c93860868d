#include "autograd/op_checks.h"

#include "autograd/fused_checks.h"
#include "autograd/ops.h"

namespace tapestry {
namespace {

using Vars = std::vector<Var>;
using Cases = std::vector<GradcheckCase>;

// f(in[0])
template <class F>
GradcheckCase unary(const char* name, F f, CheckInput input = {{2, 3}}) {
  return {name, {input}, [f](const Vars& in) { return Vars{f(in[0])}; }};
}

// f(in[0], in[1])
template <class F>
GradcheckCase binary(const char* name, F f, CheckInput a, CheckInput b) {
  return {name, {a, b}, [f](const Vars& in) { return Vars{f(in[0], in[1])}; }};
}

void elementwise_checks(Cases& cases) {
  const auto one = [&](const char* name, Var (*f)(const Var&), double low = -2, double high = 2) {
    cases.push_back(unary(name, f, {{2, 3}, low, high}));
  };
  one("neg", neg);
  one("exp", exp);
  one("log", log, 0.5);
  one("sqrt", sqrt, 0.5);
  one("square", square);
  one("reciprocal", reciprocal, 0.5);
  one("abs", abs);
  one("erf", erf);
  one("sin", sin);
  one("cos", cos);
  one("tanh", tanh);
  one("sigmoid", sigmoid, -4, 4);
  one("relu", relu);
  one("gelu", gelu, -4, 4);
  one("gelu_tanh", gelu_tanh, -4, 4);
  one("silu", silu, -4, 4);
  one("softplus", softplus, -4, 4);
  cases.push_back(unary("leaky_relu", [](const Var& x) { return leaky_relu(x, 0.2); }));
  cases.push_back(unary("pow/number", [](const Var& x) { return pow(x, -1.5); }, {{2, 3}, 0.5, 2}));
  cases.push_back(unary("pow/cube", [](const Var& x) { return pow(x, 3); }));
  cases.push_back(unary("shift", [](const Var& x) { return 3 - x + 2; }));
  cases.push_back(unary("scale", [](const Var& x) { return 3 * x / 7; }));
  cases.push_back(unary("clamp", [](const Var& x) { return clamp(x, -0.5, 1); }, {{3, 5}}));
  cases.push_back(unary("masked_fill", [](const Var& x) { return masked_fill(x, Ids({0, 1, 0}), 7); }));
}

void broadcast_checks(Cases& cases) {
  using Op = Var (*)(const Var&, const Var&);
  const std::pair<const char*, Op> ops[] = {{"add", add}, {"sub", sub},         {"mul", mul},        {"div", div},
                                            {"pow", pow}, {"maximum", maximum}, {"minimum", minimum}};
  const std::pair<const char*, std::pair<Shape, Shape>> shapes[] = {{"", {{2, 3}, {2, 3}}},
                                                                    {"/row", {{2, 3, 4}, {4}}},
                                                                    {"/column", {{3, 1}, {2, 3, 4}}},
                                                                    {"/both", {{3, 1, 2}, {4, 1}}},
                                                                    {"/scalar", {{}, {2, 3}}}};
  for (const auto& [name, op] : ops) {
    // Away from the pole of a quotient and from the logarithm of a power's base.
    const bool positive = op == Op{div} || op == Op{pow};
    const double low = positive ? 0.5 : -2;
    for (const auto& [variant, pair] : shapes)
      cases.push_back(binary((std::string(name) + variant).c_str(), op, {pair.first, low, 2}, {pair.second, low, 2}));
    const Op f = op;
    // Waves that cross x and one another, so that each of the three is somewhere the largest and somewhere the
    // smallest.
    const auto twice = [f](const Var& x) { return f(x, f(1.2 + cos(5 * x), 1.2 + sin(5 * x))); };
    cases.push_back(unary((std::string(name) + "/twice").c_str(), twice, {{4, 5}, 0.5, 2}));
  }
  const Ids condition({1, 0, 0, 1}, {4, 1});
  cases.push_back(binary("where", [condition](const Var& a, const Var& b) { return where(condition, a, b); },
                         {{2, 1, 3}}, {{4, 3}}));
}

void reduce_checks(Cases& cases) {
  using Op = Var (*)(const Var&, const Axes&, bool);
  const auto biased = [](const Var& x, const Axes& axes, bool keep) { return variance(x, axes, false, keep); };
  const auto unbiased = [](const Var& x, const Axes& axes, bool keep) { return variance(x, axes, true, keep); };
  const std::pair<const char*, Op> ops[] = {{"sum", sum},
                                            {"mean", mean},
                                            {"max", max},
                                            {"min", min},
                                            {"variance", unbiased},
                                            {"variance/biased", biased},
                                            {"logsumexp", logsumexp}};
  for (const auto& op : ops) {
    const std::string name = op.first;
    const Op f = op.second;
    const auto check = [&](const char* variant, Axes axes, bool keep) {
      cases.push_back(
          unary((name + variant).c_str(), [f, axes, keep](const Var& x) { return f(x, axes, keep); }, {{2, 3, 4}}));
    };
    check("/all", {}, false);
    check("/last", {-1}, false);
    check("/first", {0}, true);
    check("/middle", {1}, false);
    check("/outer and inner", {0, -1}, true);
  }
  cases.push_back(unary("softmax", [](const Var& x) { return softmax(x); }, {{3, 5}}));
  cases.push_back(unary("softmax/axis", [](const Var& x) { return softmax(x, 1); }, {{2, 3, 4}}));
  cases.push_back(unary("log_softmax", [](const Var& x) { return log_softmax(x); }, {{3, 5}}));
  cases.push_back(unary("log_softmax/axis", [](const Var& x) { return log_softmax(x, 0); }, {{4, 3}}));
  const auto masked = [&](const char* name, const Shape& shape, const Mask& mask) {
    cases.push_back(unary(name, [mask](const Var& x) { return masked_softmax(x, mask); }, {shape}));
  };
  masked("masked_softmax", {3, 5}, Mask::lengths(Ids({5, 0, 2})));
  masked("masked_softmax/queries", {2, 3, 5}, Mask::lengths(Ids({5, 1, 2, 4, 0, 3}, {2, 3})));
  masked("masked_softmax/causal", {2, 3, 4, 5}, Mask::lengths(Ids({3, 5})) & Mask::causal());
}

void product_checks(Cases& cases) {
  const auto product = [&](const char* name, const Shape& a, const Shape& b) {
    cases.push_back(binary(name, matmul, {a}, {b}));
  };
  product("matmul", {2, 3}, {3, 4});
  product("matmul/rows", {5, 2, 3}, {3, 4});
  product("matmul/batched", {5, 2, 3}, {5, 3, 4});
  product("matmul/broadcast", {5, 1, 2, 3}, {2, 3, 4});
  product("matmul/one matrix", {2, 3}, {5, 3, 4});
  product("matmul/vector matrix", {3}, {3, 4});
  product("matmul/vector batch", {3}, {5, 3, 4});
  product("matmul/matrix vector", {5, 2, 3}, {3});
  product("matmul/dot", {3}, {3});
  cases.push_back(unary("matmul/twice", [](const Var& x) { return matmul(x, transpose(x, 0, 1)); }));
  using Linear = Var (*)(const Var&, const Var&, const Var&, const RowRange&);
  const std::pair<std::string, Linear> linears[] = {{"linear", linear}, {"linear_reference", linear_reference}};
  for (const auto& [name, op] : linears) {
    const Linear f = op;
    cases.push_back(
        {name, {{{2, 5, 3}}, {{4, 3}}, {{4}}}, [f](const Vars& in) { return Vars{f(in[0], in[1], in[2], {})}; }});
    cases.push_back(binary((name + "/no bias").c_str(), [f](const Var& x, const Var& w) { return f(x, w, {}, {}); },
                           {{3}}, {{4, 3}}));
  }
}

void rearrangement_checks(Cases& cases) {
  const auto one = [&](const char* name, auto f) { cases.push_back(unary(name, f, {{2, 3, 4}})); };
  one("reshape", [](const Var& x) { return reshape(x, {4, -1}); });
  one("permute", [](const Var& x) { return permute(x, {2, 0, 1}); });
  one("transpose", [](const Var& x) { return transpose(x, 0, -1); });
  one("repeat", [](const Var& x) { return repeat(x, {2, 1, 3}); });
  one("flip", [](const Var& x) { return flip(x, {0, -1}); });
  one("roll", [](const Var& x) { return roll(x, -1, 2); });
  one("pad", [](const Var& x) { return pad(x, 1, 2, 1, 0.5); });
  one("tril", [](const Var& x) { return tril(x, 1); });
  one("triu", [](const Var& x) { return triu(x, 1); });
  one("slice", [](const Var& x) { return slice(x, 2, 0, -1, 2); });
  one("slice/overlapping", [](const Var& x) { return slice(x, 1, 0, 2) * slice(x, 1, 1, 3); });
  one("select", [](const Var& x) { return select(x, 1, -1); });
  cases.push_back({"split", {{{2, 6}}}, [](const Vars& in) { return split(in[0], {1, 3, 2}, 1); }});
  cases.push_back(unary("expand", [](const Var& x) { return expand(x, {4, 2, 3}); }, {{2, 1}}));
  cases.push_back(binary("concat",
                         [](const Var& a, const Var& b) {
                           return concat({a, b, a}, 1);
                         },
                         {{2, 3, 4}}, {{2, 1, 4}}));
  cases.push_back(binary("stack", [](const Var& a, const Var& b) { return stack({a, b}, -1); }, {{2, 3}}, {{2, 3}}));
  const Ids rows({2, 0, 2, 1, 2, 2}, {2, 3});
  cases.push_back(unary("embedding", [rows](const Var& table) { return embedding(table, rows); }, {{4, 5}}));
  one("index_select", [](const Var& x) { return index_select(x, 1, Ids({2, 0, 2, 2})); });
  cases.push_back(unary("gather", [rows](const Var& x) { return gather(x, 0, rows); }, {{4, 3}}));
  cases.push_back(binary("scatter_add", [rows](const Var& x, const Var& s) { return scatter_add(x, 0, rows, s); },
                         {{4, 3}}, {{2, 3}}));
}

}  // namespace

std::vector<GradcheckCase> op_checks() {
  Cases cases;
  elementwise_checks(cases);
  broadcast_checks(cases);
  reduce_checks(cases);
  product_checks(cases);
  rearrangement_checks(cases);
  for (GradcheckCase& check : fused_checks()) cases.push_back(std::move(check));
  return cases;
}

}  // namespace tapestry
