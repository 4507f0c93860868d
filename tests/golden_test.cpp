#include "tests/golden.h"

#include <fstream>

#include "autograd/convolution.h"
#include "autograd/ops.h"

using namespace tapestry;
using nlohmann::json;

namespace {

using Vars = std::vector<Var>;

template <class F>
GoldenOp one(F f) {
  return [f](const Vars& in, const json&) { return Vars{f(in[0])}; };
}

GoldenOp two(Var (*f)(const Var&, const Var&)) {
  return [f](const Vars& in, const json&) { return Vars{f(in[0], in[1])}; };
}

GoldenOp reduction(Var (*f)(const Var&, const Axes&, bool)) {
  return [f](const Vars& in, const json& a) { return Vars{f(in[0], a["axes"].get<Axes>(), a["keepdims"])}; };
}

GoldenOp along_axis(Var (*f)(const Var&, int)) {
  return [f](const Vars& in, const json& a) { return Vars{f(in[0], a["axis"])}; };
}

void add_elementwise(std::map<std::string, GoldenOp>& ops) {
  for (const auto& [name, f] : std::map<std::string, Var (*)(const Var&)>{{"neg", neg},
                                                                          {"exp", exp},
                                                                          {"log", log},
                                                                          {"sqrt", sqrt},
                                                                          {"square", square},
                                                                          {"abs", abs},
                                                                          {"erf", erf},
                                                                          {"sin", sin},
                                                                          {"cos", cos},
                                                                          {"tanh", tanh},
                                                                          {"sigmoid", sigmoid},
                                                                          {"relu", relu},
                                                                          {"gelu", gelu},
                                                                          {"gelu_tanh", gelu_tanh},
                                                                          {"silu", silu},
                                                                          {"softplus", softplus},
                                                                          {"reciprocal", reciprocal}})
    ops[name] = one(f);
  for (const auto& [name, f] : std::map<std::string, Var (*)(const Var&, const Var&)>{{"add", add},
                                                                                      {"sub", sub},
                                                                                      {"mul", mul},
                                                                                      {"div", div},
                                                                                      {"pow", pow},
                                                                                      {"maximum", maximum},
                                                                                      {"minimum", minimum},
                                                                                      {"matmul", matmul}})
    ops[name] = two(f);
  ops["leaky_relu"] = [](const Vars& in, const json& a) { return Vars{leaky_relu(in[0], a["slope"])}; };
  ops["clamp"] = [](const Vars& in, const json& a) { return Vars{clamp(in[0], a["low"], a["high"])}; };
  ops["pow_number"] = [](const Vars& in, const json& a) { return Vars{pow(in[0], a["exponent"].get<double>())}; };
  ops["where"] = [](const Vars& in, const json& a) { return Vars{where(golden_ids(a["condition"]), in[0], in[1])}; };
  ops["masked_fill"] = [](const Vars& in, const json& a) {
    return Vars{masked_fill(in[0], golden_ids(a["mask"]), a["value"])};
  };
}

void add_reductions(std::map<std::string, GoldenOp>& ops) {
  for (const auto& [name, f] : std::map<std::string, Var (*)(const Var&, const Axes&, bool)>{
           {"sum", sum}, {"mean", mean}, {"max", max}, {"min", min}, {"logsumexp", logsumexp}})
    ops[name] = reduction(f);
  ops["variance"] = [](const Vars& in, const json& a) {
    return Vars{variance(in[0], a["axes"].get<Axes>(), a["unbiased"], a["keepdims"])};
  };
  ops["softmax"] = along_axis(softmax);
  ops["log_softmax"] = along_axis(log_softmax);
  ops["masked_softmax"] = [](const Vars& in, const json& a) {
    const Mask lengths = Mask::lengths(golden_ids(a["lengths"]));
    return Vars{masked_softmax(in[0], a.contains("causal") ? lengths & Mask::causal() : lengths)};
  };
  ops["linear"] = [](const Vars& in, const json&) { return Vars{linear(in[0], in[1], in[2])}; };
  ops["conv1d"] = [](const Vars& in, const json& a) {
    const auto plan = a["causal"].get<bool>() ? ConvolutionPlan::causal : ConvolutionPlan::same;
    return Vars{conv1d(in[0], in[1], in[2], plan(in[1].size(2), a["dilation"]))};
  };
}

void add_rearrangements(std::map<std::string, GoldenOp>& ops) {
  ops["permute"] = [](const Vars& in, const json& a) { return Vars{permute(in[0], a["axes"].get<Axes>())}; };
  ops["transpose"] = [](const Vars& in, const json& a) { return Vars{transpose(in[0], a["a"], a["b"])}; };
  ops["reshape"] = [](const Vars& in, const json& a) { return Vars{reshape(in[0], golden_shape(a["shape"]))}; };
  ops["expand"] = [](const Vars& in, const json& a) { return Vars{expand(in[0], golden_shape(a["shape"]))}; };
  ops["repeat"] = [](const Vars& in, const json& a) {
    return Vars{repeat(in[0], a["counts"].get<std::vector<Index>>())};
  };
  ops["flip"] = [](const Vars& in, const json& a) { return Vars{flip(in[0], a["axes"].get<Axes>())}; };
  ops["roll"] = [](const Vars& in, const json& a) { return Vars{roll(in[0], a["places"], a["axis"])}; };
  ops["pad"] = [](const Vars& in, const json& a) {
    return Vars{pad(in[0], a["axis"], a["before"], a["after"], a["value"])};
  };
  ops["tril"] = [](const Vars& in, const json& a) { return Vars{tril(in[0], a["diagonal"])}; };
  ops["triu"] = [](const Vars& in, const json& a) { return Vars{triu(in[0], a["diagonal"])}; };
  ops["concat"] = [](const Vars& in, const json& a) { return Vars{concat(in, a["axis"])}; };
  ops["stack"] = [](const Vars& in, const json& a) { return Vars{stack(in, a["axis"])}; };
  ops["split"] = [](const Vars& in, const json& a) {
    return split(in[0], a["sizes"].get<std::vector<Index>>(), a["axis"]);
  };
  ops["slice"] = [](const Vars& in, const json& a) {
    return Vars{slice(in[0], a["axis"], a["begin"], a["end"], a["step"])};
  };
  ops["select"] = [](const Vars& in, const json& a) { return Vars{select(in[0], a["axis"], a["index"])}; };
  ops["embedding"] = [](const Vars& in, const json& a) { return Vars{embedding(in[0], golden_ids(a["ids"]))}; };
  ops["index_select"] = [](const Vars& in, const json& a) {
    return Vars{index_select(in[0], a["axis"], golden_ids(a["ids"]))};
  };
  ops["gather"] = [](const Vars& in, const json& a) { return Vars{gather(in[0], a["axis"], golden_ids(a["ids"]))}; };
  ops["scatter_add"] = [](const Vars& in, const json& a) {
    return Vars{scatter_add(in[0], a["axis"], golden_ids(a["ids"]), in[1])};
  };
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("ops and their gradients agree with PyTorch") {
    std::map<std::string, GoldenOp> ops;
    add_elementwise(ops);
    add_reductions(ops);
    add_rearrangements(ops);
    const json golden = json::parse(std::ifstream(SOURCE_DIR "/tests/golden/ops.json"));
    std::map<std::string, int> seen;
    for (const json& entry : golden["cases"]) {
      const std::string op = entry["op"];
      INFO(op << " " << entry["attributes"].dump());
      REQUIRE(ops.contains(op));
      ++seen[op];
      check_golden_case(entry, ops[op], DType::f64, 1e-9);
      // Powers of numbers near 0 and e^25 magnify the rounding of an f32 input beyond the usual.
      check_golden_case(entry, ops[op], DType::f32, 2e-5);
    }
    for (const auto& op : ops) CHECK_MESSAGE(seen[op.first] > 0, op.first << " has no golden case");
  }
}
