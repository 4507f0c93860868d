#include "tools/pooling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "autograd/ops.h"
#include "core/random.h"
#include "nn/attention_pooling.h"

namespace tapestry {
namespace {

double curve(double x) {
  return 2 * std::sin(x) + std::pow(x, 0.8);
}

// Numbers as vectors of width 1.
Var as_sequence(const std::vector<double>& values, Index batch) {
  return Var(Tensor::from(values, {batch, static_cast<Index>(values.size()) / batch, 1}, DType::f64));
}

AttentionPooling kernel(const Scope& scope, double width) {
  PoolingOptions options;
  options.score = "gaussian";
  options.width = width;
  return AttentionPooling(scope, 1, 1, options);
}

// For each value all others: [n * (n - 1)].
std::vector<double> others(const std::vector<double>& values) {
  std::vector<double> all;
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t j = 0; j < values.size(); ++j)
      if (j != i) all.push_back(values[j]);
  return all;
}

PoolingFit measured(std::string name, double width, const PoolingExperiment& data, const AttentionOutput& output) {
  PoolingFit fit{std::move(name), width, 0, output.context.value().values(), output.weights.value()};
  const auto queries = static_cast<Index>(data.at.size());
  fit.weights = fit.weights.reshape({queries, -1});
  for (std::size_t i = 0; i < data.at.size(); ++i)
    fit.error += std::pow(fit.y[i] - data.truth[i], 2) / static_cast<double>(queries);
  return fit;
}

// Leave-one-out: each point is a sentence whose query is its x and whose keys are the x of the others.
void learn_width(const AttentionPooling& pooling, const Var& w, const PoolingExperimentOptions& options,
                 PoolingExperiment& result) {
  const Var queries = as_sequence(result.x, options.points), wanted = as_sequence(result.y, options.points);
  const Var keys = as_sequence(others(result.x), options.points),
            values = as_sequence(others(result.y), options.points);
  for (Index update = 0; update <= options.updates; ++update) {
    Tape tape;
    const Var loss = mean(square(pooling(queries, keys, values, {}, Pass{}).context - wanted));
    (update == 0 ? result.loss_before : result.loss_after) = loss.value().item();
    require(std::isfinite(loss.value().item()),
            "pooling: the loss must stay finite; it is {} after {} updates. A lower rate may help", loss.value().item(),
            update);
    if (update == options.updates) break;
    w.value().set(0, w.value().item() - options.lr * tape.backward(loss)[w].item());
  }
}

}  // namespace

PoolingExperiment pooling_experiment(const PoolingExperimentOptions& options) {
  require_within("--points", options.points, 2, 500);
  require_within("--noise", options.noise, 0, 100);
  require_within("--width", options.width, 0.01, 100);
  require_within("--updates", options.updates, 1, 10000);
  require_within("--lr", options.lr, 0, 100);
  PoolingExperiment result;
  core::Random random(options.seed);
  for (Index i = 0; i < options.points; ++i) result.x.push_back(random.uniform(0, 5));
  std::sort(result.x.begin(), result.x.end());
  for (const double x : result.x) result.y.push_back(curve(x) + options.noise * random.normal());
  for (int i = 0; i < 50; ++i) {
    result.at.push_back(i * 0.1);
    result.truth.push_back(curve(i * 0.1));
  }

  const Var queries = as_sequence(result.at, 1), keys = as_sequence(result.x, 1), values = as_sequence(result.y, 1);
  const Var alike(
      Tensor::full({1, queries.size(1), options.points}, 1 / static_cast<double>(options.points), DType::f64));
  const auto fit = [&](const char* name, double width, const AttentionOutput& output) {
    result.fits.push_back(measured(name, width, result, output));
  };
  fit("average", std::numeric_limits<double>::infinity(), {matmul(alike, values), alike});
  ParameterStore store(DType::f64);
  const AttentionPooling pooling = kernel(Scope(store), options.width);
  const auto pooled = [&] { return pooling(queries, keys, values, {}, Pass{}); };
  fit("kernel", options.width, pooled());
  const Var& w = store["w"];
  learn_width(pooling, w, options, result);
  fit("kernel, learned", 1 / std::abs(w.value().item()), pooled());
  return result;
}

}  // namespace tapestry
