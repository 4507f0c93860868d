// Runs with other cells and an encoder in both directions, by the program.

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/program.h"

using namespace tapestry;
using nlohmann::json;

namespace {

std::vector<std::string> tiny(const std::string& out, const std::string& model, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments{
      "train",    "--out", out,        "--model", model,      "--cell", "lstm",    "--bidirectional",
      "--pairs",  "200",   "--valid",  "20",      "--test",   "20",     "--embed", "8",
      "--hidden", "8",     "--layers", "2",       "--epochs", "1",      "--batch", "32"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

}  // namespace

TEST_SUITE("train") {
  TEST_CASE("train: LSTM cells and an encoder in both directions go through training, resuming, decoding and scoring") {
    const TemporaryDirectory place;
    for (const std::string model : {"bahdanau", "seq2seq"}) {
      const std::string run = place.file(model);
      REQUIRE(run_program(tiny(run, model, {"--stop-after", "3"})).status == 0);
      const Outcome resumed = run_program({"train", "--resume", run});
      CAPTURE(resumed.error);
      REQUIRE(resumed.status == 0);
      CHECK(resumed.out.find("model   " + model +
                             ", lstm cells, encoder in both directions, embedding 8, hidden 8, 2 ") !=
            std::string::npos);
      const std::string whole = place.file(model + "-whole");
      REQUIRE(run_program(tiny(whole, model)).status == 0);
      CHECK(file_bytes(run + "/model.safetensors") == file_bytes(whole + "/model.safetensors"));
      const Outcome translated = run_program({"translate", run, "--beam", "3", "--n-best", "2", "the cat sleeps ."});
      CHECK(translated.status == 0);
      CHECK(count_lines(translated.out) == 2);
      const Outcome scored = run_program({"evaluate", run, "--json"});
      REQUIRE(scored.status == 0);
      CHECK(std::isfinite(json::parse(scored.out)["loss"].get<double>()));
      CHECK(run_program({"train", "--resume", run, "--cell", "gru"}).error ==
            "tapestry: --cell: must be as in the run that goes on, \"lstm\"; given \"gru\"\n");
    }
  }
}
