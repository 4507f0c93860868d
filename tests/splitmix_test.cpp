#include "core/splitmix.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>

using namespace tapestry;

TEST_SUITE("fast") {
  TEST_CASE("SplitMix64 gives the published numbers") {
    SplitMix64 random(1234567);
    for (const std::uint64_t expected : {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                         4593380528125082431u, 16408922859458223821u})
      CHECK(random.next() == expected);
  }

  TEST_CASE("numbers below n are in range and even") {
    SplitMix64 random(1);
    std::array<int, 7> seen{};
    for (int i = 0; i < 7000; ++i) ++seen.at(random.below(7));
    for (const int count : seen) CHECK(std::abs(count - 1000) < 150);  // five standard deviations
    for (int i = 0; i < 10; ++i) CHECK(random.below(1) == 0);
    // The 64-bit numbers hold the first third of this range twice and the rest once, unless some are drawn again.
    const std::uint64_t third = std::uint64_t{1} << 62;
    int in_first = 0;
    for (int i = 0; i < 3000; ++i) in_first += random.below(3 * third) < third;
    CHECK(std::abs(in_first - 1000) < 130);  // five standard deviations; 1500 with the fault
  }

  TEST_CASE("a shuffle reaches every order equally often") {
    SplitMix64 random(3);
    std::array<int, 27> seen{};
    for (int i = 0; i < 6000; ++i) {
      std::vector<int> items = {0, 1, 2};
      shuffle(items, random);
      ++seen.at(static_cast<std::size_t>(9 * items[0] + 3 * items[1] + items[2]));
    }
    CHECK(std::count_if(seen.begin(), seen.end(), [](int n) { return std::abs(n - 1000) < 150; }) == 6);
    CHECK(std::count(seen.begin(), seen.end(), 0) == 21);
  }
}
