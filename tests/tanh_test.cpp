#include "core/tanh.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace tapestry;
using namespace tapestry::core;

TEST_SUITE("fast") {
  TEST_CASE("smooth_tanh is tanh within 6 units of the last place, odd, and at most 1") {
    const auto f = [](float x) { return smooth_tanh<float>(Batch<float>(x)).get(0); };
    double worst = 0;
    for (int i = -100000; i <= 100000; ++i) {
      const float x = static_cast<float>(i) * 1e-4F;
      const double y = f(x), exact = std::tanh(static_cast<double>(x));
      if (i == 0) continue;
      worst = std::max(worst, std::abs(y - exact) / std::ldexp(1.0, std::ilogb(exact) - 23));
      REQUIRE(std::abs(y) <= 1);
      REQUIRE(f(-x) == -y);
    }
    CHECK(worst < 6);
    CHECK(f(0) == 0);
    CHECK(f(1e-30F) == 1e-30F);
    CHECK(f(std::numeric_limits<float>::infinity()) == 1);
    CHECK(f(-std::numeric_limits<float>::infinity()) == -1);
    CHECK(std::isnan(f(std::nanf(""))));
  }
}
