#include "tools/bench_scaling.h"

#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "core/denormals.h"
#include "core/random.h"
#include "nn/multi_head_attention.h"
#include "tools/apart.h"
#include "tools/median.h"
#include "tools/table.h"

namespace tapestry {
namespace {

Tensor random_tensor(const Shape& shape) {
  core::Random random(1);
  const Tensor x = Tensor::empty(shape, DType::f32);
  for (Index i = 0; i < x.numel(); ++i) x.set(i, random.uniform(-1, 1));
  return x;
}

// A layer, and what is needed to take steps with it.
class MeasuredLayer {
 public:
  MeasuredLayer(const MakeSequenceLayer& make, Index length, Index width)
      : layer_(make(Scope(store_), width)),
        gradients_(store_.gradients()),
        x_(watch(random_tensor({1, length, width}))),
        cotangent_(random_tensor({1, length, width})) {}

  void step() const {
    Tape tape{gradients_.by_parameter};
    const Var y = layer_(x_);
    tape.backward(std::span(&y, 1), std::span(&cotangent_, 1));
  }
  // Seconds, and bytes in use at the peak.
  std::vector<double> cost() const {
    step();  // until caches and free lists are warm
    reset_peak_memory();
    const auto before = static_cast<double>(memory_use().live);
    step();
    const double bytes = static_cast<double>(memory_use().peak) - before;
    // Time of the processor, which other programs on the machine do not stretch.
    const std::clock_t start = std::clock();
    double seconds = 0;
    int steps = 0;
    for (; seconds < 0.05; ++steps) {
      step();
      seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    }
    return {seconds / steps, bytes};
  }

 private:
  ParameterStore store_;
  SequenceLayer layer_;
  ParameterStore::Gradients gradients_;
  Var x_;
  Tensor cotangent_;
};

// Every size in turn, `repetitions` times; medians.
std::vector<LayerCost> measure(const MakeSequenceLayer& make, const std::vector<std::pair<Index, Index>>& sizes,
                               int repetitions) {
  std::vector<std::vector<double>> seconds(sizes.size());
  std::vector<LayerCost> costs(sizes.size());
  for (int r = 0; r < repetitions; ++r) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto& [length, width] = sizes[i];
      const auto cost = apart([&, &size = sizes[i]] { return MeasuredLayer(make, size.first, size.second).cost(); });
      seconds[i].push_back(cost[0]);
      costs[i] = {length, width, 0, cost[1]};
    }
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) costs[i].seconds = median(seconds[i]);
  return costs;
}

Scaling::Exponents fit(const std::vector<LayerCost>& costs, Index LayerCost::*size) {
  std::vector<double> x, seconds, bytes;
  for (const LayerCost& cost : costs) {
    x.push_back(static_cast<double>(cost.*size));
    seconds.push_back(cost.seconds);
    bytes.push_back(cost.bytes);
  }
  return {fitted_exponent(x, seconds), fitted_exponent(x, bytes)};
}

nlohmann::json to_json(const LayerCost& cost) {
  return {{"length", cost.length}, {"width", cost.width}, {"ms", cost.seconds * 1e3}, {"bytes", cost.bytes}};
}

nlohmann::json to_json(const std::vector<LayerCost>& costs, const Scaling::Exponents& exponents) {
  nlohmann::json rows = nlohmann::json::array();
  for (const LayerCost& cost : costs) rows.push_back(to_json(cost));
  return {{"rows", rows}, {"time_exponent", exponents.seconds}, {"memory_exponent", exponents.bytes}};
}

std::string format(const std::vector<LayerCost>& costs, const char* size, const Scaling::Exponents& exponents) {
  std::vector<std::vector<std::string>> table{{"n", "d", "ms", "MB"}};
  for (const LayerCost& cost : costs)
    table.push_back({std::to_string(cost.length), std::to_string(cost.width), fmt::format("{:.3f}", cost.seconds * 1e3),
                     fmt::format("{:.3f}", cost.bytes * 1e-6)});
  return fmt::format("{}time grows as {}^{:.2f}, memory as {}^{:.2f}\n", format_table(table, "rrrr"), size,
                     exponents.seconds, size, exponents.bytes);
}

}  // namespace

double fitted_exponent(const std::vector<double>& x, const std::vector<double>& y) {
  const auto count = static_cast<double>(x.size());
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double u = std::log(x[i]), v = std::log(y[i]);
    sx += u;
    sy += v;
    sxx += u * u;
    sxy += u * v;
  }
  return (count * sxy - sx * sy) / (count * sxx - sx * sx);
}

Scaling measure_scaling(const MakeSequenceLayer& make, const ScalingSizes& sizes, int repetitions) {
  core::flush_denormals();
  std::vector<std::pair<Index, Index>> lengths, widths;
  for (const Index n : sizes.lengths) lengths.emplace_back(n, sizes.width);
  for (const Index d : sizes.widths) widths.emplace_back(sizes.length, d);
  Scaling scaling{measure(make, lengths, repetitions), measure(make, widths, repetitions), {}, {}};
  scaling.length = fit(scaling.by_length, &LayerCost::length);
  scaling.width = fit(scaling.by_width, &LayerCost::width);
  return scaling;
}

Scaling bench_scaling(int repetitions) {
  const auto self_attention = [](const Scope& scope, Index width) -> SequenceLayer {
    MultiHeadAttentionOptions options;
    options.heads = 4;
    return [layer = MultiHeadAttention(scope, width, options)](const Var& x) { return layer(x, {}, Pass()).context; };
  };
  return measure_scaling(self_attention, {{16, 32, 64, 128, 256, 512, 1024}, 64, {32, 64, 128, 256, 512}, 128},
                         repetitions);
}

nlohmann::json to_json(const Scaling& scaling) {
  return {{"by_length", to_json(scaling.by_length, scaling.length)},
          {"by_width", to_json(scaling.by_width, scaling.width)}};
}

std::string format_scaling(const Scaling& scaling) {
  return "self-attention, four heads, forward and backward: n positions of width d\n" +
         format(scaling.by_length, "n", scaling.length) + format(scaling.by_width, "d", scaling.width);
}

}  // namespace tapestry
