#include "models/greedy.h"

#include <algorithm>
#include <numeric>

#include "models/batch.h"

namespace tapestry {
namespace {

std::vector<std::int32_t> argmax_rows(const Tensor& logits) {  // [B,V]
  std::vector<std::int32_t> best;
  dispatch(logits.dtype(), [&]<class T> {
    const T* row = logits.data<T>();
    for (Index b = 0; b < logits.size(0); ++b, row += logits.size(1))
      best.push_back(static_cast<std::int32_t>(std::max_element(row, row + logits.size(1)) - row));
  });
  return best;
}

// The first `width` weights of row b of each step: [steps, width]. What lies behind is padding of the batch.
Tensor attention_of(const std::vector<Tensor>& steps, Index count, Index b, Index width) {
  Tensor weights = Tensor::empty({count, width}, steps[0].dtype());
  for (Index t = 0; t < count; ++t) {
    const Tensor& step = steps[static_cast<std::size_t>(t)];
    for (Index s = 0; s < width; ++s) weights.set(t * width + s, step.at(b * step.size(1) + s));
  }
  return weights;
}

std::vector<Translation> decode_batch(const EncoderDecoder& model, std::span<const std::vector<std::int32_t>> sources,
                                      const GreedyOptions& options) {
  const NoRecord inference;
  const PaddedIds source = pad(sources);
  const Pass pass;
  DecoderState state = model.encode(source.ids, source.lengths, pass);
  std::vector<Translation> translations(sources.size());
  std::vector<Index> steps_of(sources.size(), 0);
  std::vector<bool> done(sources.size(), false);
  std::vector<Tensor> attention;
  std::vector<std::int32_t> previous(sources.size(), Vocabulary::bos);
  const auto limit = [&](std::size_t b) {
    return options.limit > 0 ? options.limit : 2 * static_cast<Index>(sources[b].size()) + 10;
  };
  while (std::find(done.begin(), done.end(), false) != done.end()) {
    const EncoderDecoder::Step step = model.step(Ids(previous), state, pass);
    if (options.attention && step.attention) attention.push_back(step.attention.value());
    previous = argmax_rows(model.output()(step.features).value());
    for (std::size_t b = 0; b < sources.size(); ++b) {
      if (done[b]) continue;
      ++steps_of[b];
      const bool ended = options.stop && previous[b] == Vocabulary::eos;
      if (!ended) translations[b].ids.push_back(previous[b]);
      translations[b].ended = ended;
      done[b] = ended || steps_of[b] == limit(b);
    }
  }
  if (!attention.empty())
    for (std::size_t b = 0; b < sources.size(); ++b)
      translations[b].attention =
          attention_of(attention, steps_of[b], static_cast<Index>(b), static_cast<Index>(sources[b].size()));
  return translations;
}

}  // namespace

std::vector<Translation> greedy(const EncoderDecoder& model, const std::vector<std::vector<std::int32_t>>& sources,
                                core::Workers& workers, const GreedyOptions& options) {
  std::vector<std::size_t> order(sources.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return sources[a].size() < sources[b].size(); });
  const std::size_t size = static_cast<std::size_t>(options.batch);
  std::vector<Translation> translations(sources.size());
  workers.run(static_cast<Index>((sources.size() + size - 1) / size), [&](Index batch) {
    const std::size_t begin = static_cast<std::size_t>(batch) * size, end = std::min(begin + size, sources.size());
    std::vector<std::vector<std::int32_t>> rows;
    for (std::size_t i = begin; i < end; ++i) rows.push_back(sources[order[i]]);
    auto results = decode_batch(model, rows, options);
    for (std::size_t i = begin; i < end; ++i) translations[order[i]] = std::move(results[i - begin]);
  });
  return translations;
}

}  // namespace tapestry
