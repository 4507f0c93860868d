#include "optim/schedule.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/error.h"

using namespace tapestry;

TEST_SUITE("fast") {
  TEST_CASE("constant and linear rates") {
    const Schedule constant{.name = "constant", .lr = 0.3, .updates = 10};
    CHECK(constant.rate(7) == 0.3);
    const Schedule linear{.name = "linear", .lr = 0.5, .updates = 10};
    CHECK(linear.rate(1) == 0.5);
    CHECK(linear.rate(10) == doctest::Approx(0.05));
    CHECK(linear.peak().rate == 0.5);
    CHECK(linear.peak().update == 1);
  }

  TEST_CASE("the inverse square root warms up from its initial rate to its peak") {
    const Schedule schedule{.name = "inverse-sqrt", .lr = 0.005, .updates = 8000, .warmup = 2000, .initial = 1e-7};
    CHECK(schedule.rate(1) == doctest::Approx(1e-7 + (0.005 - 1e-7) / 2000).epsilon(1e-14));
    CHECK(schedule.rate(1000) == doctest::Approx(0.00250005).epsilon(1e-14));
    CHECK(schedule.rate(2000) == 0.005);
    CHECK(schedule.rate(8000) == 0.0025);
    CHECK(schedule.peak().rate == 0.005);
    CHECK(schedule.peak().update == 2000);
  }

  TEST_CASE("the paper's rate peaks at width^-0.5 warmup^-0.5") {
    const Schedule schedule{.name = "noam", .updates = 100000, .warmup = 4000, .width = 512};
    CHECK(schedule.peak().update == 4000);
    CHECK(schedule.peak().rate == doctest::Approx(6.987712429686844e-4).epsilon(1e-14));  // 1 / sqrt(512 4000)
    CHECK(schedule.rate(0) == schedule.rate(1));
    CHECK(schedule.rate(16000) == doctest::Approx(schedule.peak().rate / 2).epsilon(1e-14));
  }

  TEST_CASE("both forms are one curve") {
    const Schedule paper{.name = "noam", .warmup = 50, .factor = 2, .width = 64};
    const Schedule peak{.name = "inverse-sqrt", .lr = 2 / std::sqrt(64.0 * 50), .warmup = 50};
    for (Index t = 1; t < 300; ++t) CHECK(paper.rate(t) == doctest::Approx(peak.rate(t)).epsilon(1e-14));
  }

  TEST_CASE("a training that ends while it warms up never reaches the peak, and says so") {
    const Schedule schedule{.name = "inverse-sqrt", .lr = 0.01, .updates = 10, .warmup = 100};
    CHECK(schedule.peak().update == 10);
    CHECK(schedule.peak().rate == doctest::Approx(0.001));
  }

  TEST_CASE("an unknown schedule names the known ones") {
    CHECK_THROWS_WITH_AS(Schedule{.name = "cosine"}.rate(1),
                         "schedule: must be one of constant, linear, inverse-sqrt, noam; given cosine", UsageError);
  }
}
