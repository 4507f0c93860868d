#pragma once
// BLEU: how many of the n-grams of a translation its reference has too (Papineni et al., "BLEU: a method for automatic
// evaluation of machine translation", 2002). One reference per sentence.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/bleu_tokenizers.h"
#include "models/tokenizer.h"

namespace tapestry {

/// What an order n without any match counts as (Chen and Cherry, "A systematic comparison of smoothing techniques",
/// 2014).
enum class BleuSmoothing {
  none,   ///< 0, and so does the score
  floor,  ///< 0.1 matches
  add_k,  ///< 1 is added to matches and total of every order above the first, matched or not
  exp,    ///< 1/2 match for the first such order, 1/4 for the next, ...; sacreBLEU's default
};

struct BleuOptions {
  BleuTokenizer tokenizer = BleuTokenizer::mteval_13a;
  bool lowercase = false;
  BleuSmoothing smoothing = BleuSmoothing::exp;
  bool effective_order = false;  ///< average only the orders the translation is long enough for; for single sentences
};

/// All that BLEU knows of a sentence or, summed over sentences, of a corpus. Index n - 1 is for n-grams.
struct BleuStats {
  std::array<std::int64_t, 4>
      matches{};  ///< n-grams of the translation found in the reference, each at most as often as there
  std::array<std::int64_t, 4> totals{};  ///< n-grams of the translation
  std::int64_t sys_len = 0;              ///< tokens of the translation
  std::int64_t ref_len = 0;              ///< tokens of the reference

  BleuStats& operator+=(const BleuStats& other);
};

struct BleuScore {
  double score = 0;                    ///< 0 to 100
  std::array<double, 4> precisions{};  ///< smoothed, 0 to 100
  double bp = 0;                       ///< brevity penalty, 0 to 1
  BleuStats stats;
};

/// n-grams that `hypothesis` and `reference` share, each counted as often as it occurs in both; n > 0.
std::int64_t ngram_matches(const Tokens& hypothesis, const Tokens& reference, std::size_t n);

/// Statistics of one sentence that is split into tokens already.
BleuStats bleu_stats(const Tokens& hypothesis, const Tokens& reference);

/// Statistics of one sentence, lower-cased and tokenised as the options say.
BleuStats bleu_stats(std::string_view hypothesis, std::string_view reference, const BleuOptions& options);

/// The score of summed statistics; 0 where nothing matches, also for empty translations. Only `smoothing` and
/// `effective_order` matter here.
///   score = bp · exp(1/4 Σ_n log precision_n),   bp = min(1, exp(1 − ref_len/sys_len))
BleuScore bleu(const BleuStats& stats, const BleuOptions& options = {});

/// Corpus BLEU-4, equal to sacreBLEU 2's. Statistics are summed before the score is taken, which is not the mean of the
/// scores of sentences. Throws Error for unequal numbers of sentences.
BleuScore corpus_bleu(std::span<const std::string> hypotheses, std::span<const std::string> references,
                      const BleuOptions& options = {});

/// What a reader must know to compare a score, in sacreBLEU's form:
/// "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:tapestry-0.1.0".
std::string bleu_signature(const BleuOptions& options);

/// The book's score of one sentence, 0 to 1 (Zhang et al., Dive into Deep Learning, section on sequence-to-sequence
/// learning):
///   exp(min(0, 1 − len_reference/len_hypothesis)) · Π_{n=1..k} p_n^(1/2^n)
/// It is 0 where the translation has no n-gram for some n up to k, even if it is perfect, and for an empty translation.
/// Throws Error unless k is at least 1.
double book_bleu(const Tokens& hypothesis, const Tokens& reference, std::size_t k);

}  // namespace tapestry
