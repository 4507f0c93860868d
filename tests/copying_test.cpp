#include "tools/copying.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/program.h"

using namespace tapestry;

TEST_SUITE("fast") {
  TEST_CASE("lab copy: the result depends on the seed, not on the threads") {
    core::Workers one(1), two(2);
    const CopyingExperiment a = copying_experiment({200, 1, 8, 5}, one), b = copying_experiment({200, 1, 8, 5}, two);
    REQUIRE(a.samples.size() == b.samples.size());
    for (std::size_t i = 0; i < a.samples.size(); ++i) {
      CHECK(a.samples[i].plain == b.samples[i].plain);
      CHECK(a.samples[i].copied == b.samples[i].copied);
      CHECK(a.samples[i].generated == b.samples[i].generated);
    }
    CHECK(copying_experiment({200, 1, 8, 6}, one).gate_at_names != a.gate_at_names);
  }

  TEST_CASE("lab copy: bad values are refused in one line, good ones give one object and a picture") {
    const auto error = [](const char* option, const char* value) {
      return run_program({"lab", "copy", option, value}).error;
    };
    CHECK(error("--pairs", "0") == "tapestry: --pairs: must lie in [200, 1000000]; given 0\n");
    CHECK(error("--epochs", "0") == "tapestry: --epochs: must lie in [1, 1000]; given 0\n");
    CHECK(error("--hidden", "1025") == "tapestry: --hidden: must lie in [1, 1024]; given 1025\n");
    const TemporaryDirectory place;
    const std::string picture = place.file("copy.svg");
    const Outcome outcome =
        run_program({"lab", "copy", "--pairs", "200", "--epochs", "1", "--hidden", "8", "--json", "--out", picture});
    REQUIRE(outcome.status == 0);
    const auto json = nlohmann::json::parse(outcome.out);
    CHECK(json["sentences"] == 300);
    CHECK(json["attention"]["names_copied"] == 0);
    CHECK(json["samples"].size() == 3);
    CHECK(file_bytes(picture).starts_with("<svg "));
    CHECK(file_bytes(picture).find("&lt;p_gen&gt;") != std::string::npos);
  }
}

TEST_SUITE("train") {
  TEST_CASE("lab copy: a pointer copies names that attention alone can only call <unk>") {
    core::Workers workers(2);
    for (const std::uint64_t seed : {1, 2}) {
      const CopyingExperiment result = copying_experiment({3000, 4, 48, seed}, workers);
      CHECK(result.names > 400);
      CHECK(result.plain.names == 0);
      CHECK(result.plain.unknown > 0.95);
      CHECK(result.pointer.names > 0.95);
      CHECK(result.gate_at_names < 0.1);
      CHECK(result.gate_at_words > 0.8);
    }
  }
}
