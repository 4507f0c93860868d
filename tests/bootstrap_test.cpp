#include "models/bootstrap.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/splitmix.h"

using namespace tapestry;
using doctest::Approx;

namespace {

const BleuStats perfect = bleu_stats({"a", "b", "c", "d"}, {"a", "b", "c", "d"});
const BleuStats wrong = bleu_stats({"w", "x", "y", "z"}, {"a", "b", "c", "d"});

/// `good` perfect sentences of `all`, spread by the seed.
std::vector<BleuStats> system_with(std::size_t good, std::size_t all, std::uint64_t seed) {
  std::vector<BleuStats> sentences(all, wrong);
  std::fill_n(sentences.begin(), good, perfect);
  SplitMix64 random(seed);
  shuffle(sentences, random);
  return sentences;
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("two sentences have three samples that can be worked by hand") {
    // A translates the first of two sentences, B none. A sample holds the first sentence twice, once or never, with
    // probability 1/4, 1/2, 1/4, and A then scores 100, 50 or 0.
    const std::vector<BleuStats> a = {perfect, wrong}, b = {wrong, wrong};
    const BootstrapResult result = paired_bootstrap(a, b, 4000, 1);
    CHECK(result.score_a == Approx(50));
    CHECK(result.score_b == 0);
    CHECK(result.difference == Approx(50));
    CHECK(std::abs(result.mean_a - 50) < 2.5);  // four standard deviations
    CHECK(result.mean_b == 0);
    CHECK(result.low == 0);
    CHECK(result.high == Approx(100));
    // Shifted by the mean, 100 or 0 (whichever lies 50 away from it) is as large as the real difference.
    CHECK(result.p_value > 0.2);
    CHECK(result.p_value < 0.3);
  }

  TEST_CASE("the same sentences are drawn for both systems") {
    // Always right together: however much the scores vary, their difference does not.
    const std::vector<BleuStats> a = system_with(30, 60, 2);
    const BootstrapResult same = paired_bootstrap(a, a);
    CHECK(same.difference == 0);
    CHECK(same.low == 0);
    CHECK(same.high == 0);
    CHECK(same.mean_a == same.mean_b);
    CHECK(same.p_value == 1);
  }

  TEST_CASE("a large difference is significant, a small one is not, and sides can be swapped") {
    const std::vector<BleuStats> good = system_with(80, 100, 1), fair = system_with(78, 100, 2),
                                 bad = system_with(20, 100, 3);
    const BootstrapResult clear = paired_bootstrap(good, bad);
    CHECK(clear.difference == Approx(60));
    CHECK(clear.p_value == Approx(1.0 / 1001));
    CHECK(clear.low > 40);
    CHECK(clear.high < 80);
    const BootstrapResult unclear = paired_bootstrap(good, fair);
    CHECK(unclear.p_value > 0.5);
    CHECK(unclear.low < 0);
    CHECK(unclear.high > 0);
    const BootstrapResult swapped = paired_bootstrap(fair, good);
    CHECK(swapped.difference == -unclear.difference);
    CHECK(swapped.low == -unclear.high);
    CHECK(swapped.high == -unclear.low);
    CHECK(swapped.p_value == unclear.p_value);
  }

  TEST_CASE("samples depend on the seed alone") {
    const std::vector<BleuStats> a = system_with(60, 100, 1), b = system_with(40, 100, 2);
    CHECK(paired_bootstrap(a, b, 100, 7).mean_a == paired_bootstrap(a, b, 100, 7).mean_a);
    CHECK(paired_bootstrap(a, b, 100, 7).mean_a != paired_bootstrap(a, b, 100, 8).mean_a);
  }

  TEST_CASE("systems must have translated the same sentences") {
    const std::vector<BleuStats> two = {perfect, wrong}, one = {wrong};
    CHECK_THROWS_WITH_AS(paired_bootstrap(two, one),
                         "paired_bootstrap: both systems must have translated the same sentences; 2 and 1", Error);
    CHECK_THROWS_AS(paired_bootstrap({}, {}), Error);
    CHECK_THROWS_WITH_AS(paired_bootstrap(one, one, 0), "paired_bootstrap: samples must be at least 1; 0", Error);
    CHECK(paired_bootstrap(one, one, 1).p_value == 1);
  }
}
