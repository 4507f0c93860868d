#include "core/random.h"

#include <Random123/philox.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

using namespace tapestry;
using namespace tapestry::core;

namespace {

bool kept(const BitMask& mask, Index row, Index feature) {
  return (mask.row(row)[feature / 8] >> (feature % 8) & 1) != 0;
}

}  // namespace

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

  TEST_CASE("philox gives the published answer for counter and key of ones") {
    // Known answer test of Salmon et al. for philox4x32-10.
    CHECK(philox(PhiloxBlock{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) ==
          PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  }

  TEST_CASE("a mask bit is the threshold of its 16 bits of the documented block") {
    const DropoutKey key{11, 5, 7, 3, 2};
    const double p = 0.3;
    const BitMask mask = dropout_mask(3, 4, 21, p, key);
    for (std::uint32_t b = 0; b < 3; ++b) {
      for (std::uint32_t t = 0; t < 4; ++t) {
        for (std::uint32_t f = 0; f < 21; ++f) {
          const PhiloxBlock block = philox(PhiloxBlock{f / 8, 2 + t, 3 + b, 7}, philox_key(11, 5));
          const std::uint32_t bits = block[f % 8 / 2] >> (f % 2 * 16) & 0xFFFF;
          REQUIRE(kept(mask, b * 4 + t, f) == (bits >= std::lround(p * 65536)));
        }
      }
    }
  }

  TEST_CASE("a mask does not depend on how sentences and positions are cut into calls") {
    const DropoutKey key{1, 2, 3, 0, 0};
    const BitMask whole = dropout_mask(5, 6, 13, 0.5, key), longer = dropout_mask(5, 9, 13, 0.5, key);
    for (std::uint32_t b = 0; b < 5; ++b) {
      for (std::uint32_t t = 0; t < 6; ++t) {
        DropoutKey at = key;
        at.first_sentence = b;
        at.first_position = t;
        const BitMask one = dropout_mask(1, 1, 13, 0.5, at);
        for (Index f = 0; f < 13; ++f) {
          REQUIRE(kept(whole, b * 6 + t, f) == kept(one, 0, f));
          REQUIRE(kept(whole, b * 6 + t, f) == kept(longer, b * 9 + t, f));
        }
      }
    }
  }

  TEST_CASE("masks keep the asked share, and differ by seed, stream and update") {
    const BitMask mask = dropout_mask(50, 20, 100, 0.1, {1, 1, 1, 0, 0});
    const std::vector<DropoutKey> others = {{2, 1, 1, 0, 0}, {1, 2, 1, 0, 0}, {1, 1, 2, 0, 0}};
    Index count = 0;
    std::array<Index, 3> same{};
    for (std::size_t o = 0; o < 3; ++o) {
      const BitMask other = dropout_mask(50, 20, 100, 0.1, others[o]);
      for (Index r = 0; r < 1000; ++r)
        for (Index f = 0; f < 100; ++f) same[o] += kept(mask, r, f) == kept(other, r, f);
    }
    for (Index r = 0; r < 1000; ++r)
      for (Index f = 0; f < 100; ++f) count += kept(mask, r, f);
    // Bounds: five standard deviations of a binomial of 100,000 elements.
    CHECK(std::abs(count / 1e5 - 0.9) < 5 * std::sqrt(0.09 / 1e5));
    for (Index s : same) CHECK(std::abs(s / 1e5 - 0.82) < 5 * std::sqrt(0.82 * 0.18 / 1e5));
  }

  TEST_CASE("p = 0 keeps all, p = 1 none, and other values are refused") {
    const BitMask all = dropout_mask(2, 3, 5, 0, {}), none = dropout_mask(2, 3, 5, 1, {});
    for (Index r = 0; r < 6; ++r)
      for (Index f = 0; f < 5; ++f) CHECK((kept(all, r, f) && !kept(none, r, f)));
    CHECK_THROWS_WITH(dropout_mask(2, 3, 5, 1.5, {}), "dropout: p must lie in [0, 1]; given 1.5");
    CHECK_THROWS_WITH(dropout_mask(2, 3, 5, std::nan(""), {}), "dropout: p must lie in [0, 1]; given nan");
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
