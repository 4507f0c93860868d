#include "tools/pooling.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "tests/program.h"
#include "tests/readme.h"

using namespace tapestry;

namespace {

// The leave-one-out loss of a kernel of this width, by the formula.
double leave_one_out(const PoolingExperiment& data, double width) {
  double loss = 0;
  for (std::size_t i = 0; i < data.x.size(); ++i) {
    double sum = 0, weights = 0;
    for (std::size_t j = 0; j < data.x.size(); ++j) {
      if (j == i) continue;
      const double weight = std::exp(-std::pow((data.x[i] - data.x[j]) / width, 2) / 2);
      sum += weight * data.y[j];
      weights += weight;
    }
    loss += std::pow(sum / weights - data.y[i], 2) / static_cast<double>(data.x.size());
  }
  return loss;
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("lab pooling: the kernel is that of Nadaraya and Watson, and a learned width fits better") {
    for (const std::uint64_t seed : {1, 2, 3}) {
      PoolingExperimentOptions options;
      options.seed = seed;
      const PoolingExperiment result = pooling_experiment(options);
      CHECK(std::is_sorted(result.x.begin(), result.x.end()));
      CHECK(result.truth[10] == doctest::Approx(2 * std::sin(1) + 1).epsilon(1e-14));
      REQUIRE(result.fits.size() == 3);
      const PoolingFit &average = result.fits[0], &kernel = result.fits[1], &learned = result.fits[2];
      double mean = 0;
      for (const double y : result.y) mean += y / 50;
      for (const double y : average.y) CHECK(y == doctest::Approx(mean).epsilon(1e-13));
      for (std::size_t q = 0; q < result.at.size(); ++q) {
        double sum = 0, weights = 0;
        for (std::size_t i = 0; i < result.x.size(); ++i) {
          const double weight = std::exp(-std::pow(result.at[q] - result.x[i], 2) / 2);
          sum += weight * result.y[i];
          weights += weight;
        }
        CHECK(kernel.y[q] == doctest::Approx(sum / weights).epsilon(1e-12));
      }
      CHECK(kernel.error < average.error);
      CHECK(learned.error < kernel.error);
      CHECK(result.loss_before == doctest::Approx(leave_one_out(result, 1)).epsilon(1e-12));
      CHECK(result.loss_after == doctest::Approx(leave_one_out(result, learned.width)).epsilon(1e-12));
      // Where descent ended, neither a narrower nor a wider kernel is much better.
      for (const double factor : {0.8, 1.25})
        CHECK(result.loss_after < 1.01 * leave_one_out(result, factor * learned.width));
    }
  }

  TEST_CASE("lab pooling: without noise, many points and a narrow kernel find the curve") {
    PoolingExperimentOptions options;
    options.points = 500;
    options.noise = 0;
    options.width = 0.02;
    CHECK(pooling_experiment(options).fits[1].error < 1e-3);
  }

  TEST_CASE("lab pooling: bad values are refused in one line, good ones give one object and two pictures") {
    CHECK(run_program({"lab", "pooling"}).out == readme_block("tools/README.md", "pooling"));
    const auto error = [](const char* option, const char* value) {
      return run_program({"lab", "pooling", option, value}).error;
    };
    CHECK(error("--width", "0") == "tapestry: --width: must lie in [0.01, 100]; given 0\n");
    CHECK(error("--points", "1") == "tapestry: --points: must lie in [2, 500]; given 1\n");
    CHECK(error("--noise", "-1") == "tapestry: --noise: must lie in [0, 100]; given -1\n");
    CHECK(error("--updates", "0") == "tapestry: --updates: must lie in [1, 10000]; given 0\n");
    CHECK(error("--lr", "101") == "tapestry: --lr: must lie in [0, 100]; given 101\n");
    const TemporaryDirectory place;
    const std::string lines = place.file("lines.svg"), maps = place.file("maps.svg");
    const Outcome outcome =
        run_program({"lab", "pooling", "--points", "12", "--json", "--out", lines, "--weights", maps});
    REQUIRE(outcome.status == 0);
    const auto json = nlohmann::json::parse(outcome.out);
    CHECK(json["rows"].size() == 3);
    CHECK(json["rows"][0]["width"].is_null());
    CHECK(json["loss_after"].get<double>() < json["loss_before"].get<double>());
    for (const std::string& file : {lines, maps}) CHECK(file_bytes(file).starts_with("<svg "));
  }
}
