#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/bleu.h"

namespace tapestry {

/// How sure one can be that system A scores higher than system B. All BLEU figures are 0 to 100.
struct BootstrapResult {
  double score_a, score_b;  ///< on the sentences themselves
  double mean_a, mean_b;    ///< over the samples
  double difference;        ///< score_a - score_b
  double low, high;         ///< 95 % of the samples' differences lie between these two
  double p_value;           ///< how often chance alone would give a difference of this size, in either direction
};

/// Paired bootstrap resampling (Koehn, "Statistical significance tests for machine translation evaluation", 2004):
/// draws as many sentences as there are, with repetition, the same for both systems, and takes corpus BLEU (exp
/// smoothing) of each sample. The p-value shifts the samples' differences to mean 0, as if the systems were equal, and
/// counts those at least as large as the real one: (count + 1) / (samples + 1).
///
/// Depends on nothing but its arguments. Throws Error for unequal or zero numbers of sentences and for no samples.
BootstrapResult paired_bootstrap(std::span<const BleuStats> a, std::span<const BleuStats> b, std::size_t samples = 1000,
                                 std::uint64_t seed = 1);

}  // namespace tapestry
