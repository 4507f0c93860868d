// What lies where a run is, or is to be, and is not what a training left there.

#include <doctest/doctest.h>

#include <filesystem>

#include "tests/program.h"

using namespace tapestry;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> tiny(const std::string& out, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments{"train",    "--pairs",  "60",       "--valid", "5",        "--test", "5",
                                     "--embed",  "4",        "--hidden", "4",       "--layers", "1",      "--schedule",
                                     "constant", "--epochs", "3",        "--batch", "20",       "--out",  out};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// Replaces what stands in a file for something of another length.
void edit(const TemporaryDirectory& place, const std::string& name, const std::string& from, const std::string& to) {
  std::string text = file_bytes(place.file(name));
  const std::size_t found = text.find(from);
  REQUIRE(found != std::string::npos);
  place.write(name, text.replace(found, from.size(), to));
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("train --force: a run that happens to be called DIR.new is not the rest of a training") {
    const TemporaryDirectory place;
    REQUIRE(run_program(tiny(place.file("v"))).status == 0);
    REQUIRE(run_program(tiny(place.file("v.new"))).status == 0);
    const auto before = directory_bytes(place.path());
    const Outcome outcome = run_program(tiny(place.file("v"), {"--force"}));
    CHECK(outcome.complained(2));
    CHECK(outcome.error.find("v.new: must be free for the new run; it holds other files") != std::string::npos);
    CHECK(directory_bytes(place.path()) == before);
  }

  TEST_CASE("train: what a kill left of a run that was just replaced is cleared, but for what is not a run's") {
    for (const bool force : {false, true}) {
      CAPTURE(force);
      const TemporaryDirectory place;
      const std::string run = place.file("run");
      REQUIRE(run_program(tiny(run)).status == 0);
      const auto whole = directory_bytes(run);
      // As it stands when the two have changed names and half of the old one is gone.
      fs::copy(run, run + ".new", fs::copy_options::recursive);
      fs::remove(run + ".new/metrics.jsonl");
      place.write("run.new/look.svg", "a picture");
      place.write("run/replaces", fs::canonical(run).string());
      const Outcome outcome =
          run_program(force ? tiny(run, {"--force"}) : std::vector<std::string>{"train", "--resume", run});
      CHECK(outcome.status == 0);
      CHECK_FALSE(fs::exists(run + ".new"));
      CHECK_FALSE(fs::exists(run + "/replaces"));
      CHECK(file_bytes(run + "/look.svg") == "a picture");
      fs::remove(run + "/look.svg");
      if (!force) CHECK(directory_bytes(run) == whole);
    }
  }

  TEST_CASE("train --force: foreign files under the names of a run are refused before training") {
    const TemporaryDirectory place;
    const std::string run = place.file("run");
    REQUIRE(run_program(tiny(run)).status == 0);
    place.write("run/checkpoints/notes.txt", "mine");
    const auto before = directory_bytes(place.path());
    const Outcome outcome = run_program(tiny(run, {"--force"}));
    CHECK(outcome.complained(2));
    CHECK(outcome.error.find("must leave the names of a run's files free; checkpoints is not of a run") !=
          std::string::npos);
    CHECK(directory_bytes(place.path()) == before);
  }

  TEST_CASE("train --resume: a run that lost its checkpoints does not begin anew") {
    const TemporaryDirectory place;
    const std::string run = place.file("run");
    REQUIRE(run_program(tiny(run, {"--stop-after", "7"})).status == 0);
    fs::remove_all(run + "/checkpoints");
    const auto refused = [&](const std::string& message) {
      const auto before = directory_bytes(run);
      const Outcome outcome = run_program({"train", "--resume", run});
      CAPTURE(outcome.error);
      CHECK(outcome.complained(1));
      CHECK(outcome.error.find(message) != std::string::npos);
      CHECK(directory_bytes(run) == before);
    };
    refused("must hold a checkpoint to go on from; it reported 2 epochs and holds none");
    place.write("run/checkpoints", "");
    refused("checkpoints: must be a readable directory; Not a directory");
  }

  TEST_CASE("train --resume: an end that the run has passed is refused, reported or not") {
    // Three updates an epoch: nine to its end, or seven, of which six were reported.
    struct Run {
      std::vector<std::string> options;
      int reached;
    };
    for (const Run& trained : {Run{{}, 9}, Run{{"--stop-after", "7"}, 7}}) {
      CAPTURE(trained.reached);
      const TemporaryDirectory place;
      const std::string run = place.file("run");
      REQUIRE(run_program(tiny(run, trained.options)).status == 0);
      const auto before = directory_bytes(run);
      const Outcome outcome = run_program({"train", "--resume", run, "--epochs", "2"});
      CHECK(outcome.complained(2));
      CHECK(outcome.error.find("--updates: must not end before update " + std::to_string(trained.reached) +
                               ", which the run has reached; given 6") != std::string::npos);
      CHECK(directory_bytes(run) == before);
    }
  }

  TEST_CASE("train --resume: an edited configuration or state is told, and no reason to crash") {
    const TemporaryDirectory place;
    const std::string run = place.file("run");
    REQUIRE(run_program(tiny(run, {"--stop-after", "5"})).status == 0);
    const auto refused = [&](int status, const std::string& message) {
      const Outcome outcome = run_program({"train", "--resume", run});
      CAPTURE(outcome.error);
      CHECK(outcome.complained(status));
      CHECK(outcome.error.find(message) != std::string::npos);
    };
    const std::string config = file_bytes(run + "/config.json");
    edit(place, "run/config.json", "\"batch\": 20", "\"batch\": 40");
    refused(2, "--batch: must be as in the run that goes on, 20; given 40");
    place.write("run/config.json", config);
    // In the state it stands as JSON in JSON, in a place of fixed length.
    edit(place, "run/checkpoints/last/state.safetensors", "\\\"batch\\\":2,", "\\\"batch\\\":9,");
    refused(1, "must stand where its training can; it is at update 5 with 1 epochs and 9 batches");
    edit(place, "run/checkpoints/last/state.safetensors", "\\\"batch\\\":9,", "\\\"batch\\\":-,");
    refused(1, "state.safetensors: must hold the state of a training; ");
  }
}
