// lab complexity and lab residual: what they must find whatever the machine; never how fast it is.

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "core/files.h"
#include "tests/program.h"

using namespace tapestry;

namespace {

nlohmann::json lab(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "lab");
  arguments.push_back("--json");
  const Outcome outcome = run_program(arguments);
  REQUIRE(outcome.status == 0);
  return nlohmann::json::parse(outcome.out);
}

}  // namespace

TEST_SUITE("train") {
  TEST_CASE("lab complexity finds the sequential operations and the longest paths of Table 1") {
    const TemporaryDirectory place;
    const nlohmann::json found = lab({"complexity", "--quick", "--out", place.file("picture.svg")});
    CHECK(read_file(place.file("picture.svg")).starts_with("<svg"));
    CHECK(found["lengths_of_paths"] == std::vector<int>{17, 33, 65, 129});
    const std::vector<std::vector<int>> paths{
        {1, 1, 1, 1}, {17, 33, 65, 129}, {8, 16, 32, 64}, {3, 4, 4, 5}, {1, 2, 4, 8}};
    REQUIRE(found["layers"].size() == paths.size());
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const nlohmann::json& layer = found["layers"][i];
      CAPTURE(layer["layer"]);
      CHECK(layer["maximum_path_length"] == paths[i]);
      const auto sequential = layer["sequential_operations"].get<std::vector<int>>();
      if (i == 1) {
        CHECK(sequential[3] - sequential[2] == 4 * (sequential[1] - sequential[0]));
      } else {
        CHECK(sequential[3] == sequential[0]);
      }
      CHECK(layer["cost"]["by_length"]["memory_exponent"].get<double>() < 1.15);
    }
  }

  TEST_CASE("lab residual: with both, the first block gets its gradient and a stack learns; with neither not") {
    const TemporaryDirectory place;
    const std::vector<std::string> arguments{
        "residual", "--depth", "4", "--updates", "300", "--out", place.file("picture.svg")};
    const nlohmann::json found = lab(arguments);
    CHECK(read_file(place.file("picture.svg")).starts_with("<svg"));
    CHECK(lab(arguments) == found);
    const auto& with = found["variants"][0];
    const auto& without = found["variants"][3];
    CHECK(with["name"] == "residual and norm");
    CHECK(without["name"] == "neither");
    REQUIRE(with["stacks"].size() == 3);  // of 1, 2 and 4 blocks
    const auto norm_at_the_bottom = [](const nlohmann::json& variant) {
      return variant["stacks"][2]["gradient_norms"][0].get<double>();
    };
    CHECK(norm_at_the_bottom(with) > 5 * norm_at_the_bottom(without));
    CHECK(norm_at_the_bottom(found["variants"][2]) > 10 * norm_at_the_bottom(with));  // no norm: it grows and grows
    CHECK(with["stacks"][1]["last_loss"].get<double>() < without["stacks"][1]["last_loss"].get<double>() - 0.5);
  }

  TEST_CASE("lab complexity and lab residual refuse what they cannot do") {
    const auto complains = [](std::vector<std::string> arguments, const std::string& message) {
      arguments.insert(arguments.begin(), "lab");
      const Outcome outcome = run_program(arguments);
      CHECK(outcome.complained(2));
      CHECK(outcome.error == "tapestry: " + message + "\n");
    };
    complains({"complexity", "--repetitions", "0"}, "--repetitions: must lie in [1, 1000]; given 0");
    complains({"residual", "--depth", "0"}, "--depth: must lie in [1, 100]; given 0");
    complains({"residual", "--updates", "0"}, "--updates: must lie in [1, 1000000]; given 0");
    complains({"residual", "--lr", "0"}, "--lr: must be above 0; given 0");
  }
}
