// The mean of checkpoints, and what is left of a run without them.

#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/safetensors.h"
#include "tests/program.h"

using namespace tapestry;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

// The last three of them have a checkpoint.
std::vector<std::string> four_epochs(const std::string& out) {
  return {"train", "--pairs",  "120", "--valid",  "20", "--test", "1", "--embed", "6", "--hidden",
          "6",     "--layers", "1",   "--epochs", "4",  "--keep", "3", "--out",   out};
}

}  // namespace

TEST_SUITE_BEGIN("train");

TEST_CASE("average: the mean of the last checkpoints, as a run of its own") {
  const TemporaryDirectory place;
  const std::string run = place.file("run");
  REQUIRE(run_program(four_epochs(run)).status == 0);
  const Outcome outcome = run_program({"average", run, "--last", "2"});
  CAPTURE(outcome.error);
  REQUIRE(outcome.status == 0);
  CHECK(outcome.out.find("the mean of 2 checkpoints, epochs 3 to 4: ") == 0);
  const auto model = [](const std::string& path) { return read_safetensors(path + "/model.safetensors"); };
  const SafetensorsFile mean = model(run + "-averaged"), a = model(run + "/checkpoints/epoch-3"),
                        b = model(run + "/checkpoints/epoch-4");
  for (const auto& entry : mean.tensors)
    for (Index i = 0; i < entry.second.numel(); ++i) {
      const double expected = a.tensors.at(entry.first).at(i) / 2 + b.tensors.at(entry.first).at(i) / 2;
      CHECK(entry.second.at(i) == static_cast<double>(static_cast<float>(expected)));
    }
  CHECK(run_program({"evaluate", run + "-averaged"}).status == 0);
  CHECK(run_program({"translate", run + "-averaged", "the cat sees the dog ."}).status == 0);

  const json summary = json::parse(file_bytes(run + "-averaged/summary.json"));
  CHECK(summary["averaged_run"] == fs::canonical(run).string());
  CHECK(summary["averaged_epochs"] == json{3, 4});

  CHECK(run_program({"average", run, "--last", "2"}).complained(2));  // it is there
  CHECK(run_program({"average", run, "--last", "3", "--out", run + "-averaged", "--force"}).status == 0);
  CHECK(model(run + "-averaged").tensors.begin()->second.values() != mean.tensors.begin()->second.values());
  const Outcome many = run_program({"average", run, "--last", "4", "--out", place.file("many")});
  CHECK(many.complained(1));
  CHECK(many.error.find("run: must hold 4 epoch checkpoints; it holds 3") != std::string::npos);
  CHECK_FALSE(fs::exists(place.file("many")));
  CHECK(run_program({"average", run, "--last", "0"}).error.find("--last: must be at least 1; given 0") !=
        std::string::npos);
  CHECK(run_program({"average", place.file("none")}).complained(1));
}

TEST_CASE("average: never takes the place of the training that it is the mean of") {
  const TemporaryDirectory place;
  const std::string run = place.file("run");
  REQUIRE(run_program(four_epochs(run)).status == 0);
  fs::create_directory_symlink(run, place.file("link"));
  // What --force would write to and clear first.
  fs::create_directory_symlink(run, place.file("other.new"));
  REQUIRE(run_program(four_epochs(place.file("other"))).status == 0);
  const auto before = directory_bytes(run);
  for (const std::string& out : {run, run + "/", place.file("link"), place.file("link/"), place.file("other")}) {
    const Outcome outcome = run_program({"average", run, "--last", "2", "--out", out, "--force"});
    CAPTURE(out);
    CHECK(outcome.complained(2));
    CHECK(outcome.error == "tapestry: --out: must not be the training that is averaged; given " + out + "\n");
  }
  CHECK(directory_bytes(run) == before);
}

TEST_CASE("resume: a run that was killed before its first checkpoint begins anew, a finished model stays") {
  const TemporaryDirectory place;
  const std::string run = place.file("run"), mean = run + "-averaged";
  REQUIRE(run_program(four_epochs(run)).status == 0);
  REQUIRE(run_program({"average", run, "--last", "2"}).status == 0);
  fs::remove_all(run + "/checkpoints");
  const auto before = directory_bytes(place.path());
  for (const std::string& finished : {run, mean}) {
    const Outcome outcome = run_program({"train", "--resume", finished});
    CHECK(outcome.complained(1));
    CHECK(outcome.error ==
          "tapestry: " + finished + ": must hold a checkpoint to go on from; it holds a finished model only\n");
  }
  CHECK(directory_bytes(place.path()) == before);

  const std::string model = file_bytes(run + "/model.safetensors");
  for (const char* name : {"/model.safetensors", "/metrics.jsonl", "/summary.json"}) fs::remove(run + name);
  CHECK(run_program({"train", "--resume", run}).status == 0);
  CHECK(file_bytes(run + "/model.safetensors") == model);
  CHECK(fs::exists(run + "/summary.json"));
}

TEST_SUITE_END();
