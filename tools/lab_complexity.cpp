// tapestry lab complexity: what layers cost, how much of it must be done in turn, and how far a signal has to go,
// beside Table 1 of Vaswani et al. 2017.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "autograd/attention.h"
#include "autograd/ops.h"
#include "core/files.h"
#include "core/random.h"
#include "nn/convolution.h"
#include "nn/recurrent.h"
#include "tools/bench_scaling.h"
#include "tools/lab.h"
#include "tools/line_chart.h"
#include "tools/options.h"
#include "tools/table.h"

namespace tapestry {
namespace {

constexpr Index kernel = 3, radius = 16, path_width = 4;
const std::vector<Index> path_lengths{17, 33, 65, 129};

/// One application of a layer in a chain: of x [1,n,d] and what the application before gave (absent: this is the
/// first).
using Link = std::function<Var(const Var& x, const Var& before)>;

/// A kind of layer, and the row that Table 1 has for it. `number` is a layer's place in a stack.
struct LayerKind {
  const char *name, *complexity, *sequential, *path;
  std::function<SequenceLayer(const Scope&, Index width, Index number)> make;
  std::function<Link(const Scope&, Index width, Index number)> make_link;
};

// Attention alone, of one head: the table counts no projections.
SequenceLayer attention(const Scope& scope, Index width, const Mask& mask) {
  const auto op = scope.reference() ? scaled_dot_product_attention_reference : scaled_dot_product_attention;
  return [=](const Var& x) { return op({x}, {x}, {x}, {1, width, width, mask}).context; };
}

// Causal, so that its whole reach leads from the last position towards the first.
SequenceLayer convolution(const Scope& scope, Index width, Index dilation) {
  return Conv1d(scope, width, width, kernel, {true, dilation});
}

SequenceLayer recurrent(const Scope& scope, Index width) {
  return [layer = Recurrent(scope, width, width)](const Var& x) { return layer(x, {}, {}, Pass()).sequence; };
}

// A recurrent layer is n applications of its cell in turn: here one is made at every position, from the state that the
// application before left at the neighbour on the left.
Link recurrent_link(const Scope& scope, Index width) {
  return [=, layer = Recurrent(scope, width, width)](const Var& x, const Var& before) {
    const Index length = x.size(1);
    const Var rows = reshape(x, {length, width});
    std::vector<RecurrentState> state{{Tensor::zeros({length, width}, x.dtype()), {}}};
    if (before) state[0].h = pad(slice(reshape(before, {length, width}), 0, 0, length - 1), 0, 1, 0);
    return reshape(layer.step(rows, state, Pass(), 0), x.shape());
  };
}

std::vector<LayerKind> layer_kinds() {
  std::vector<LayerKind> kinds{
      {"self-attention",
       "n^2 d",
       "1",
       "1",
       [](const Scope& scope, Index width, Index) { return attention(scope, width, {}); },
       {}},
      {"recurrent (GRU)", "n d^2", "n", "n",
       [](const Scope& scope, Index width, Index) { return recurrent(scope, width); },
       [](const Scope& scope, Index width, Index) { return recurrent_link(scope, width); }},
      {"convolution, k = 3",
       "k n d^2",
       "1",
       "n/k",
       [](const Scope& scope, Index width, Index) { return convolution(scope, width, 1); },
       {}},
      {"dilated convolution",
       "k n d^2",
       "1",
       "log_k n",
       [](const Scope& scope, Index width, Index number) {
         Index dilation = 1;
         for (Index i = 0; i < number; ++i) dilation *= kernel;
         return convolution(scope, width, dilation);
       },
       {}},
      {"restricted, r = 16",
       "r n d",
       "1",
       "n/r",
       [](const Scope& scope, Index width, Index) { return attention(scope, width, Mask::window(radius)); },
       {}}};
  for (LayerKind& kind : kinds) {
    if (kind.make_link) continue;
    kind.make_link = [make = kind.make](const Scope& scope, Index width, Index number) -> Link {
      return
          [layer = make(scope, width, number)](const Var& x, const Var& before) { return layer(before ? before : x); };
    };
  }
  return kinds;
}

Var random_input(Index length) {
  core::Random random(1);
  const Tensor x = Tensor::empty({1, length, path_width}, DType::f64);
  for (Index i = 0; i < x.numel(); ++i) x.set(i, random.uniform(-1, 1));
  return watch(x);
}

// How many ops of whole sequences the layer needs, one after the other, if it is composed of plain ones.
Index sequential_operations(const LayerKind& kind, Index length) {
  ParameterStore store(DType::f64);
  const SequenceLayer layer = kind.make(Scope(store, true), path_width, 1);
  const Var x = random_input(length);
  Tape tape;
  layer(x);
  return tape.entries();
}

// How many applications it takes until the last position depends on the first: until the row of the Jacobian that
// belongs to the one has something other than zeros where the other stands.
Index path_length(const LayerKind& kind, Index length) {
  ParameterStore store(DType::f64);
  const Var x = random_input(length);
  std::vector<Link> chain;
  while (true) {
    const auto number = static_cast<Index>(chain.size());
    require(number < length, "lab complexity: a signal must get from end to end in {} applications of {}; it does not",
            length, kind.name);
    chain.push_back(kind.make_link(Scope(store) / std::to_string(number), path_width, number));
    Tape tape;
    Var y;
    for (const Link& link : chain) y = link(x, y);
    const Tensor dx = tape.backward(sum(square(select(y, 1, length - 1))))[x];
    for (Index i = 0; i < path_width; ++i)
      if (dx.at(i) != 0) return number + 1;
  }
}

/// What was found out about one kind of layer.
struct Findings {
  LayerKind kind;
  Scaling scaling;
  std::vector<Index> sequential, paths;  // at the path_lengths
};

struct ComplexityCommand {
  int repetitions = 3;
  bool quick = false, json = false;
  std::string out;
};

std::vector<Findings> measure(const ComplexityCommand& command) {
  const ScalingSizes sizes = command.quick ? ScalingSizes{{128, 256, 512, 1024}, 32, {32, 64, 128}, 256}
                                           : ScalingSizes{{256, 512, 1024, 2048, 4096}, 64, {64, 128, 256, 512}, 512};
  std::vector<Findings> all;
  for (const LayerKind& kind : layer_kinds()) {
    const auto make = [&](const Scope& scope, Index width) { return kind.make(scope, width, 1); };
    Findings found{kind, measure_scaling(make, sizes, command.quick ? 1 : command.repetitions), {}, {}};
    for (const Index length : path_lengths) {
      found.sequential.push_back(sequential_operations(kind, length));
      found.paths.push_back(path_length(kind, length));
    }
    all.push_back(std::move(found));
  }
  return all;
}

nlohmann::json to_json(const std::vector<Findings>& all) {
  nlohmann::json layers = nlohmann::json::array();
  for (const Findings& found : all)
    layers.push_back({{"layer", found.kind.name},
                      {"table1",
                       {{"complexity", found.kind.complexity},
                        {"sequential_operations", found.kind.sequential},
                        {"maximum_path_length", found.kind.path}}},
                      {"cost", to_json(found.scaling)},
                      {"sequential_operations", found.sequential},
                      {"maximum_path_length", found.paths}});
  return {{"lengths_of_paths", path_lengths}, {"kernel", kernel}, {"radius", radius}, {"layers", layers}};
}

std::string power(double exponent) {
  return fmt::format("{:.2f}", exponent);
}

std::string cost_table(const std::vector<Findings>& all) {
  std::vector<std::vector<std::string>> table{{"layer", "Table 1", "time: n^", "d^", "memory: n^", "d^"}};
  for (const Findings& found : all)
    table.push_back({found.kind.name, fmt::format("O({})", found.kind.complexity), power(found.scaling.length.seconds),
                     power(found.scaling.width.seconds), power(found.scaling.length.bytes),
                     power(found.scaling.width.bytes)});
  return format_table(table, "llrrrr");
}

// `numbers` of each kind at the path_lengths, beside what Table 1 says of them.
std::string length_table(const std::vector<Findings>& all, const char* LayerKind::*said,
                         std::vector<Index> Findings::*numbers) {
  std::vector<std::vector<std::string>> table{{"layer", "Table 1"}};
  for (const Index length : path_lengths) table[0].push_back(fmt::format("n = {}", length));
  for (const Findings& found : all) {
    std::vector<std::string> row{found.kind.name, fmt::format("O({})", found.kind.*said)};
    for (const Index number : found.*numbers) row.push_back(std::to_string(number));
    table.push_back(std::move(row));
  }
  return format_table(table, "llrrrr");
}

std::string picture(const std::vector<Findings>& all) {
  std::vector<LineChart> charts{{"Time of a layer by the length", "n", "ms", {}, true, true},
                                {"Time of a layer by the width", "d", "ms", {}, true, true},
                                {"Memory of a layer by the length", "n", "MB", {}, true, true},
                                {"Longest path between two positions", "n", "layers", {}, true, true}};
  for (const Findings& found : all) {
    std::vector<Series> series(charts.size(), {found.kind.name, {}, {}});
    for (const LayerCost& cost : found.scaling.by_length) {
      for (const std::size_t i : {std::size_t{0}, std::size_t{2}})
        series[i].x.push_back(static_cast<double>(cost.length));
      series[0].y.push_back(cost.seconds * 1e3);
      series[2].y.push_back(cost.bytes * 1e-6);
    }
    for (const LayerCost& cost : found.scaling.by_width) {
      series[1].x.push_back(static_cast<double>(cost.width));
      series[1].y.push_back(cost.seconds * 1e3);
    }
    series[3].x.assign(path_lengths.begin(), path_lengths.end());
    series[3].y.assign(found.paths.begin(), found.paths.end());
    for (std::size_t i = 0; i < charts.size(); ++i) charts[i].series.push_back(series[i]);
  }
  return line_charts_svg(charts);
}

void run(const ComplexityCommand& command) {
  require_within("--repetitions", command.repetitions, 1, 1000);
  const std::vector<Findings> all = measure(command);
  if (!command.out.empty()) write_atomically(command.out, picture(all));
  if (command.json) return fmt::print("{}\n", to_json(all).dump());
  fmt::print("Forward and backward of one layer, one sequence: n positions of width d. Fitted powers:\n{}\n",
             cost_table(all));
  fmt::print("Ops of whole sequences on the tape of the layer composed of plain ones, so many in turn at most:\n{}\n",
             length_table(all, &LayerKind::sequential, &Findings::sequential));
  fmt::print("Layers (of the recurrent one: steps) until the last of n positions depends on the first:\n{}",
             length_table(all, &LayerKind::path, &Findings::paths));
}

}  // namespace

void add_lab_complexity(CLI::App& lab) {
  CLI::App& command = *lab.add_subcommand(
      "complexity", "What attention, recurrence and convolution cost, and how far a signal goes through them.");
  const auto options = std::make_shared<ComplexityCommand>();
  add_number(command, "--repetitions", options->repetitions,
             "Rounds of timing, of which medians are taken (default: 3)");
  command.add_flag("--quick", options->quick, "Fewer and smaller sizes, timed once");
  add_picture(command, options->out);
  add_json(command, options->json);
  command.callback([options] { run(*options); });
}

}  // namespace tapestry
