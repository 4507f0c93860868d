#include "models/decoding.h"

#include <algorithm>
#include <cmath>

#include "core/vector.h"
#include "models/beam_search.h"
#include "models/greedy.h"

namespace tapestry {

void validate(const DecodingOptions& options) {
  const auto demand = [](bool good, const char* rule, const auto& given) {
    if (!good) throw UsageError(fmt::format("{}; given {}", rule, given));
  };
  demand(1 <= options.beam && options.beam <= 65536, "--beam: must lie in [1, 65536]", options.beam);
  demand(1 <= options.best && options.best <= options.beam, "--n-best: must lie in [1, --beam]", options.best);
  demand(std::isfinite(options.length_penalty) && options.length_penalty >= 0, "--length-penalty: must be at least 0",
         options.length_penalty);
  if (!options.sampling) return;
  demand(options.beam == 1, "--sample: draws one translation and goes with no beam", options.beam);
  const double temperature = options.sampling->temperature;
  demand(std::isfinite(temperature) && temperature > 0, "--temperature: must be above 0", temperature);
  demand(options.sampling->top_k >= 0, "--top-k: must be at least 0", options.sampling->top_k);
}

std::vector<std::vector<Translation>> decode(const EncoderDecoder& model, const std::vector<TokenIds>& sources,
                                             core::Workers& workers, const DecodingOptions& options) {
  validate(options);
  if (options.beam > 1) return beam_search(model, sources, workers, options);
  std::vector<std::vector<Translation>> lists;
  for (Translation& only : greedy(model, sources, workers, options)) {
    lists.emplace_back();
    lists.back().push_back(std::move(only));
  }
  return lists;
}

core::PackedLinear packed_output(const EncoderDecoder& model) {
  return {model.output().weight.value(), model.output().bias.value()};
}

Index step_limit(const TokenIds& source, const DecodingOptions& options) {
  const Index most = 2 * static_cast<Index>(source.size()) + 10;
  return options.limit > 0 ? std::min(options.limit, most) : most;
}

double normalised(double log_probability, Index length, double penalty) {
  return log_probability / std::pow(static_cast<double>(length), penalty);
}

double log_normaliser(const Tensor& logits, Index row) {
  double result = 0;
  dispatch(logits.dtype(), [&]<class T> {
    const Index n = logits.size(1);
    const T* const x = logits.data<T>() + row * n;
    const T largest = core::fold<T>(
        n, [](auto a, auto b) { return core::larger(a, b); }, x);
    result = static_cast<double>(largest) + std::log(core::sum_of<T>(
                                                n, [&](auto v) { return exp(v - core::Batch<T>(largest)); }, x));
  });
  require(std::isfinite(result), "decoding: logits must be finite; their log-sum-exp is {}", result);
  return result;
}

void copy_weights(const Tensor& weights, Index row, const Tensor& to, Index t) {
  dispatch(to.dtype(), [&]<class T> {
    std::copy_n(weights.data<T>() + row * weights.size(1), to.size(1), to.data<T>() + t * to.size(1));
  });
}

void for_source_batches(const std::vector<TokenIds>& sources, Index sentences, core::Workers& workers,
                        const std::function<void(const std::vector<std::size_t>&)>& decode_batch) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (!sources[i].empty()) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return sources[a].size() < sources[b].size(); });
  const auto size = static_cast<std::size_t>(std::max<Index>(sentences, 1));
  workers.run(static_cast<Index>((order.size() + size - 1) / size), [&](Index batch) {
    const auto begin = order.begin() + batch * static_cast<std::ptrdiff_t>(size);
    const NoRecord inference;
    decode_batch({begin, std::min(begin + static_cast<std::ptrdiff_t>(size), order.end())});
  });
}

}  // namespace tapestry
