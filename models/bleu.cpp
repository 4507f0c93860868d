#include "models/bleu.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "core/error.h"
#include "models/utf8.h"

namespace tapestry {

namespace {

constexpr std::size_t orders = 4;
constexpr double floor_matches = 0.1;
constexpr double added_k = 1;

using Ngram = std::span<const std::string>;

bool precedes(Ngram a, Ngram b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}

std::vector<Ngram> sorted_ngrams(const Tokens& tokens, std::size_t n) {
  std::vector<Ngram> ngrams;
  for (std::size_t i = 0; i + n <= tokens.size(); ++i) ngrams.push_back(Ngram(tokens).subspan(i, n));
  std::sort(ngrams.begin(), ngrams.end(), precedes);
  return ngrams;
}

double brevity_penalty(const BleuStats& stats) {
  if (stats.sys_len >= stats.ref_len) return 1;
  if (stats.sys_len == 0) return 0;
  return std::exp(1 - static_cast<double>(stats.ref_len) / static_cast<double>(stats.sys_len));
}

std::string_view name(BleuSmoothing smoothing) {
  switch (smoothing) {
    case BleuSmoothing::none:
      return "none";
    case BleuSmoothing::floor:
      return "floor[0.10]";
    case BleuSmoothing::add_k:
      return "add-k[1.00]";
    case BleuSmoothing::exp:
      return "exp";
  }
  return "";
}

}  // namespace

BleuStats& BleuStats::operator+=(const BleuStats& other) {
  for (std::size_t n = 0; n < orders; ++n) {
    matches[n] += other.matches[n];
    totals[n] += other.totals[n];
  }
  sys_len += other.sys_len;
  ref_len += other.ref_len;
  return *this;
}

std::int64_t ngram_matches(const Tokens& hypothesis, const Tokens& reference, std::size_t n) {
  // The intersection of two sorted sequences holds an element min(times in one, times in the other) times: the clipped
  // count.
  const std::vector<Ngram> ours = sorted_ngrams(hypothesis, n);
  const std::vector<Ngram> theirs = sorted_ngrams(reference, n);
  std::vector<Ngram> shared;
  std::set_intersection(ours.begin(), ours.end(), theirs.begin(), theirs.end(), std::back_inserter(shared), precedes);
  return static_cast<std::int64_t>(shared.size());
}

BleuStats bleu_stats(const Tokens& hypothesis, const Tokens& reference) {
  BleuStats stats;
  stats.sys_len = static_cast<std::int64_t>(hypothesis.size());
  stats.ref_len = static_cast<std::int64_t>(reference.size());
  for (std::size_t n = 1; n <= orders; ++n) {
    stats.matches[n - 1] = ngram_matches(hypothesis, reference, n);
    stats.totals[n - 1] = std::max<std::int64_t>(0, stats.sys_len - static_cast<std::int64_t>(n) + 1);
  }
  return stats;
}

BleuStats bleu_stats(std::string_view hypothesis, std::string_view reference, const BleuOptions& options) {
  const auto tokens = [&](std::string_view sentence) {
    return options.lowercase ? bleu_tokens(lower(sentence), options.tokenizer)
                             : bleu_tokens(sentence, options.tokenizer);
  };
  return bleu_stats(tokens(hypothesis), tokens(reference));
}

BleuScore bleu(const BleuStats& stats, const BleuOptions& options) {
  BleuScore result;
  result.bp = brevity_penalty(stats);
  result.stats = stats;
  if (stats.matches == std::array<std::int64_t, orders>{})
    return result;  // smoothing must not make something of nothing

  double smoothed = 1;  // matches an order without any is credited with by `exp`: 1/2, 1/4, ...
  std::size_t order = orders;
  for (std::size_t n = 0; n < orders; ++n) {
    const double k = options.smoothing == BleuSmoothing::add_k && n > 0 ? added_k : 0;
    double matches = static_cast<double>(stats.matches[n]) + k;
    const double total = static_cast<double>(stats.totals[n]) + k;
    if (total == 0) break;
    if (options.effective_order) order = n + 1;
    if (matches == 0 && options.smoothing == BleuSmoothing::exp) matches = smoothed /= 2;
    if (matches == 0 && options.smoothing == BleuSmoothing::floor) matches = floor_matches;
    result.precisions[n] = 100 * matches / total;
  }
  double log_sum = 0;
  for (std::size_t n = 0; n < order; ++n) log_sum += std::log(result.precisions[n]);  // log 0 = -inf, and exp(-inf) = 0
  result.score = result.bp * std::exp(log_sum / static_cast<double>(order));
  return result;
}

BleuScore corpus_bleu(std::span<const std::string> hypotheses, std::span<const std::string> references,
                      const BleuOptions& options) {
  require(hypotheses.size() == references.size(),
          "corpus_bleu: translations and references must be equally many; {} and {}", hypotheses.size(),
          references.size());
  BleuStats stats;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) stats += bleu_stats(hypotheses[i], references[i], options);
  return bleu(stats, options);
}

std::string bleu_signature(const BleuOptions& options) {
  return fmt::format("nrefs:1|case:{}|eff:{}|tok:{}|smooth:{}|version:tapestry-" TAPESTRY_VERSION,
                     options.lowercase ? "lc" : "mixed", options.effective_order ? "yes" : "no",
                     name(options.tokenizer), name(options.smoothing));
}

double book_bleu(const Tokens& hypothesis, const Tokens& reference, std::size_t k) {
  require(k >= 1, "book_bleu: k must be at least 1; {}", k);
  if (hypothesis.size() < k) return 0;
  const auto length = static_cast<double>(hypothesis.size());
  double score = std::exp(std::min(0.0, 1 - static_cast<double>(reference.size()) / length));
  for (std::size_t n = 1; n <= k; ++n) {
    const double precision =
        static_cast<double>(ngram_matches(hypothesis, reference, n)) / static_cast<double>(hypothesis.size() - n + 1);
    score *= std::pow(precision, std::pow(0.5, n));
  }
  return score;
}

}  // namespace tapestry
