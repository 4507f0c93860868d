#include "core/random.h"

#include <Random123/philox.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

using namespace tapestry;
using namespace tapestry::core;

TEST_SUITE("fast") {
  TEST_CASE("philox is bit-equal to Random123's") {
    r123::Philox4x32 theirs;
    Random random(3);
    for (int i = 0; i < 1000; ++i) {
      const std::uint64_t a = random.bits(), b = random.bits(), k = random.bits();
      const PhiloxBlock counter{static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(a >> 32),
                                static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(b >> 32)};
      const PhiloxKey key{static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(k >> 32)};
      const auto expected = theirs({{counter[0], counter[1], counter[2], counter[3]}}, {{key[0], key[1]}});
      const PhiloxBlock ours = philox(counter, key);
      REQUIRE(std::equal(ours.begin(), ours.end(), expected.begin()));
    }
  }

  TEST_CASE("every lane of philox is philox") {
    Random random(5);
    for (int i = 0; i < 1000; ++i) {
      PhiloxLanes lanes;
      for (auto& word : lanes.word)
        for (std::uint32_t& x : word) x = static_cast<std::uint32_t>(random.bits());
      const std::uint64_t k = random.bits();
      const PhiloxKey key{static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(k >> 32)};
      const PhiloxLanes counters = lanes;
      philox(lanes, key);
      const auto block = [](const PhiloxLanes& of, int lane) {
        return PhiloxBlock{of.word[0][lane], of.word[1][lane], of.word[2][lane], of.word[3][lane]};
      };
      for (int lane = 0; lane < PhiloxLanes::width; ++lane)
        REQUIRE(block(lanes, lane) == philox(block(counters, lane), key));
    }
  }

  TEST_CASE("philox gives the published answer for counter and key of ones") {
    // Known answer test of Salmon et al. for philox4x32-10.
    CHECK(philox(PhiloxBlock{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) ==
          PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  }

  TEST_CASE("uniform and normal numbers have the moments they should have") {
    Random random(4, 9);
    const int n = 100000;
    double uniform_sum = 0, uniform_square = 0, sum = 0, square = 0, fourth = 0, lag = 0, last = 0;
    for (int i = 0; i < n; ++i) {
      const double u = random.uniform(), x = random.normal();
      REQUIRE((u >= 0 && u < 1));
      uniform_sum += u;
      uniform_square += u * u;
      sum += x;
      square += x * x;
      fourth += x * x * x * x;
      lag += x * last;
      last = x;
    }
    const double bound = 5 / std::sqrt(n);  // five standard deviations, of unit variance
    CHECK(std::abs(uniform_sum / n - 0.5) < bound * std::sqrt(1 / 12.0));
    CHECK(std::abs(uniform_square / n - 1 / 3.0) < bound * std::sqrt(4 / 45.0));
    CHECK(std::abs(sum / n) < bound);
    CHECK(std::abs(square / n - 1) < bound * std::sqrt(2.0));
    CHECK(std::abs(fourth / n - 3) < bound * std::sqrt(96.0));
    CHECK(std::abs(lag / n) < bound);
  }

  TEST_CASE("below is even, a shuffle is a permutation, and streams repeat and differ") {
    Random random(5);
    std::array<int, 7> counts{};
    for (int i = 0; i < 70000; ++i) ++counts[static_cast<std::size_t>(random.below(7))];
    for (int count : counts) CHECK(std::abs(count - 10000) < 5 * std::sqrt(10000 * 6 / 7.0));
    CHECK_THROWS_WITH(random.below(0), "random: below(n) needs n >= 1; given 0");

    std::vector<int> cards(50), sorted(50);
    for (int i = 0; i < 50; ++i) cards[static_cast<std::size_t>(i)] = sorted[static_cast<std::size_t>(i)] = i;
    random.shuffle(std::span(cards));
    CHECK(cards != sorted);
    std::sort(cards.begin(), cards.end());
    CHECK(cards == sorted);

    CHECK(Random(1, 2).bits() == Random(1, 2).bits());
    CHECK(Random(1, 2).bits() != Random(2, 1).bits());
    CHECK(Random(0, 0).bits() != Random(0, 1).bits());
  }
}
