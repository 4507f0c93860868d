// bench: what its tables must hold whatever the machine; never how fast it is.

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/dtype.h"
#include "tests/program.h"

using namespace tapestry;

namespace {

nlohmann::json bench(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"bench", "--json"});
  const Outcome outcome = run_program(arguments);
  REQUIRE(outcome.status == 0);
  return nlohmann::json::parse(outcome.out);
}

}  // namespace

TEST_SUITE("train") {
  TEST_CASE("a profile counts the calls of each op, and the multiplications that the floor has") {
    const nlohmann::json rows = bench({"d2l-bahdanau", "--profile"})["rows"];
    double gflop = 0;
    Index cells = 0;
    for (const auto& row : rows) {
      gflop += row["gflop"].get<double>();
      // Two layers at ten steps of the decoder.
      if (row["op"] == "gru_cell" && row["pass"] == "forward") cells = std::llround(row["calls"].get<double>());
      CHECK(row["products_ms"].get<double>() <= row["ms"].get<double>());
    }
    CHECK(cells == 20);
    const nlohmann::json step =
        bench({"d2l-bahdanau", "--threads", "1", "--shards", "1", "--repetitions", "1"})["rows"][0];
    // The floor also multiplies by first states, which are zero.
    CHECK(gflop == doctest::Approx(step["gflop"].get<double>()).epsilon(0.05));
    CHECK(step["page_faults"].get<double>() < 5);  // all memory comes from free lists by then
  }

  TEST_CASE("memory of attention without weights grows with the length, not with its square") {
    const nlohmann::json scaling = bench({"scaling", "--repetitions", "1"})["scaling"];
    CHECK(scaling["by_length"]["memory_exponent"].get<double>() < 1.1);
    CHECK(scaling["by_width"]["memory_exponent"].get<double>() < 1.1);
    const auto& rows = scaling["by_length"]["rows"];
    REQUIRE(rows.size() == 7);
    CHECK(rows[6]["length"] == 1024);
    CHECK(rows[6]["bytes"].get<double>() < 2.5 * rows[5]["bytes"].get<double>());
  }
}
