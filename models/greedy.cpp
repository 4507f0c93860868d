#include "models/greedy.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/random.h"
#include "core/vector.h"
#include "models/batch.h"

namespace tapestry {
namespace {

// The sentences of a batch on their way; row b of a step is sentence running_[b].
class GreedyRows {
 public:
  GreedyRows(const EncoderDecoder& model, const std::vector<TokenIds>& sources, const std::vector<std::size_t>& numbers,
             const core::PackedLinear& output, const DecodingOptions& options, std::vector<Translation>& translations)
      : model_(model),
        output_(output),
        sources_(sources),
        options_(options),
        translations_(translations),
        running_(numbers) {}

  void decode() {
    std::vector<TokenIds> rows;
    for (const std::size_t number : running_) rows.push_back(sources_[number]);
    const PaddedIds source = pad(rows);
    const Pass pass;
    state_ = model_.encode(source.ids, source.lengths, pass);
    state_.attention = options_.attention;
    previous_.assign(running_.size(), Vocabulary::bos);
    weights_.resize(running_.size());
    for (Index left = state_.lengths.numel(); left > 0;) {
      const EncoderDecoder::Step step = model_.step(Ids(previous_), state_, pass);
      left -= advance(output_(step.features.value()), step.attention);
      drop_finished(left);
    }
  }

 private:
  // Says a token in each row; returns how many sentences that finished.
  Index advance(const Tensor& logits, const Var& attention) {
    Index finished = 0;
    for (std::size_t b = 0; b < running_.size(); ++b) {
      Translation& translation = translations_[running_[b]];
      if (done(b)) continue;
      const auto row = static_cast<Index>(b), length = static_cast<Index>(translation.ids.size()) + 1;
      const double normaliser = log_normaliser(logits, row);
      const std::int32_t token = options_.sampling ? draw(logits, row, *options_.sampling, running_[b], length - 1)
                                                   : most_probable(logits, row);
      translation.log_probability += logits.at(row * logits.size(1) + token) - normaliser;
      if (options_.attention && attention) weights_[b].emplace_back(attention.value(), row);
      translation.ended = options_.stop && token == Vocabulary::eos;
      if (!translation.ended) translation.ids.push_back(token);
      previous_[b] = token;
      if (!done(b)) continue;
      finish(b, length);
      ++finished;
    }
    return finished;
  }

  bool done(std::size_t b) const {
    const Translation& translation = translations_[running_[b]];
    return translation.ended || static_cast<Index>(translation.ids.size()) ==
                                    std::min(step_limit(sources_[running_[b]], options_), model_.most_steps());
  }

  void finish(std::size_t b, Index length) {
    Translation& translation = translations_[running_[b]];
    translation.score = normalised(translation.log_probability, length, options_.length_penalty);
    if (weights_[b].empty()) return;
    const Tensor& first = weights_[b][0].first;
    translation.attention = Tensor::empty({length, static_cast<Index>(sources_[running_[b]].size())}, first.dtype());
    for (Index t = 0; t < length; ++t) {
      const auto& [step, row] = weights_[b][static_cast<std::size_t>(t)];
      copy_weights(step, row, translation.attention, t);
    }
    weights_[b].clear();
  }

  // When a quarter of the rows would be computed for nothing, the finished ones leave the batch.
  void drop_finished(Index left) {
    const auto rows = static_cast<Index>(running_.size());
    if (left == 0 || 4 * (rows - left) < rows) return;
    TokenIds kept;
    for (std::size_t b = 0; b < running_.size(); ++b) {
      if (done(b)) continue;
      running_[kept.size()] = running_[b];
      previous_[kept.size()] = previous_[b];
      weights_[kept.size()].swap(weights_[b]);
      kept.push_back(static_cast<std::int32_t>(b));
    }
    running_.resize(kept.size());
    previous_.resize(kept.size());
    const Ids sentences(std::move(kept));
    model_.select(state_, sentences, sentences);
  }

  const EncoderDecoder& model_;
  const core::PackedLinear& output_;
  const std::vector<TokenIds>& sources_;
  const DecodingOptions& options_;
  std::vector<Translation>& translations_;
  std::vector<std::size_t> running_;
  std::vector<std::int32_t> previous_;
  std::vector<std::vector<std::pair<Tensor, Index>>> weights_;  // of each row: where each step's are
  DecoderState state_;
};

// A uniform number in [0, 1): the block of random bits that belongs to this place.
double uniform_at(std::uint64_t seed, std::uint64_t sentence, Index position) {
  constexpr std::uint64_t stream = 0x5a3b1e;  // apart from those of parameters, masks and orders
  const core::PhiloxBlock block =
      core::philox({static_cast<std::uint32_t>(sentence), static_cast<std::uint32_t>(sentence >> 32),
                    static_cast<std::uint32_t>(position), 0},
                   core::philox_key(seed, stream));
  return static_cast<double>((block[0] | static_cast<std::uint64_t>(block[1]) << 32) >> 11) * 0x1p-53;
}

}  // namespace

std::int32_t most_probable(const Tensor& scores, Index row) {
  std::int32_t best = 0;
  dispatch(scores.dtype(), [&]<class T> {
    const T* const x = scores.data<T>() + row * scores.size(1);
    const T largest = core::fold<T>(
        scores.size(1), [](auto a, auto b) { return core::larger(a, b); }, x);
    best = static_cast<std::int32_t>(std::find(x, x + scores.size(1), largest) - x);
  });
  return best;
}

std::int32_t draw(const Tensor& logits, Index row, const Sampling& options, std::uint64_t sentence, Index position) {
  const Index classes = logits.size(1);
  const Tensor exact = logits.rows(row, row + 1).to(DType::f64);
  std::vector<double> x(exact.data<double>(), exact.data<double>() + classes);
  // The largest becomes 0 before the division, which may then take others to -infinity but none to +infinity.
  const double largest = *std::max_element(x.begin(), x.end());
  for (double& logit : x) logit = (logit - largest) / options.temperature;
  TokenIds tokens(x.size());
  std::iota(tokens.begin(), tokens.end(), 0);
  if (options.top_k > 0 && options.top_k < classes) {
    const auto likelier = [&](std::int32_t a, std::int32_t b) {
      const double of_a = x[static_cast<std::size_t>(a)], of_b = x[static_cast<std::size_t>(b)];
      return of_a != of_b ? of_a > of_b : a < b;
    };
    std::nth_element(tokens.begin(), tokens.begin() + options.top_k, tokens.end(), likelier);
    tokens.resize(static_cast<std::size_t>(options.top_k));
    std::sort(tokens.begin(), tokens.end());
  }
  double total = 0;
  for (const std::int32_t token : tokens) total += std::exp(x[static_cast<std::size_t>(token)]);
  // The token in whose piece of [0, total) the number falls.
  double left = total * uniform_at(options.seed, options.first_sentence + sentence, position);
  for (const std::int32_t token : tokens) {
    left -= std::exp(x[static_cast<std::size_t>(token)]);
    if (left < 0) return token;
  }
  return tokens.back();  // by rounding
}

std::vector<Translation> greedy(const EncoderDecoder& model, const std::vector<TokenIds>& sources,
                                core::Workers& workers, const DecodingOptions& options) {
  std::vector<Translation> translations(sources.size());
  const core::PackedLinear output = packed_output(model);
  for_source_batches(sources, options.batch, workers, [&](const std::vector<std::size_t>& numbers) {
    GreedyRows(model, sources, numbers, output, options, translations).decode();
  });
  return translations;
}

}  // namespace tapestry
