#include "models/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/splitmix.h"

namespace tapestry {

namespace {

double score(std::span<const BleuStats> sentences) {
  BleuStats sum;
  for (const BleuStats& sentence : sentences) sum += sentence;
  return bleu(sum).score;
}

}  // namespace

BootstrapResult paired_bootstrap(std::span<const BleuStats> a, std::span<const BleuStats> b, std::size_t samples,
                                 std::uint64_t seed) {
  require(a.size() == b.size() && !a.empty(),
          "paired_bootstrap: both systems must have translated the same sentences; {} and {}", a.size(), b.size());
  require(samples > 0, "paired_bootstrap: samples must be at least 1; {}", samples);

  BootstrapResult result{};
  result.score_a = score(a);
  result.score_b = score(b);
  result.difference = result.score_a - result.score_b;

  SplitMix64 random(seed);
  std::vector<double> differences;
  for (std::size_t s = 0; s < samples; ++s) {
    BleuStats sum_a, sum_b;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::size_t sentence = random.below(a.size());
      sum_a += a[sentence];
      sum_b += b[sentence];
    }
    const double score_a = bleu(sum_a).score, score_b = bleu(sum_b).score;
    result.mean_a += score_a / static_cast<double>(samples);
    result.mean_b += score_b / static_cast<double>(samples);
    differences.push_back(score_a - score_b);
  }

  std::sort(differences.begin(), differences.end());
  const std::size_t tail = samples / 40;  // 2.5 % at either end
  result.low = differences[tail];
  result.high = differences[samples - 1 - tail];

  const double mean = result.mean_a - result.mean_b;
  // Rounding must not make equal systems differ.
  const double size = std::abs(result.difference) - 1e-9;
  const auto count = std::count_if(differences.begin(), differences.end(),
                                   [&](double difference) { return std::abs(difference - mean) >= size; });
  result.p_value = static_cast<double>(count + 1) / static_cast<double>(samples + 1);
  return result;
}

}  // namespace tapestry
