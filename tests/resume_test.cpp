// Checkpoints: a training that was stopped or killed goes on as if nothing had happened.

#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/safetensors.h"
#include "models/checkpoint.h"
#include "models/resume.h"
#include "tests/program.h"
#include "tests/small_training.h"

using namespace tapestry;
namespace fs = std::filesystem;

namespace {

// metrics.jsonl without what the clock says.
std::vector<nlohmann::json> metrics_of(const std::string& run) {
  std::vector<nlohmann::json> lines;
  std::istringstream file(file_bytes(run + "/metrics.jsonl"));
  for (std::string line; std::getline(file, line);) {
    lines.push_back(nlohmann::json::parse(line));
    lines.back().erase("seconds");
    lines.back().erase("tokens_per_second");
  }
  return lines;
}

void check_same_checkpoint(const std::string& a, const std::string& b) {
  CAPTURE(a);
  REQUIRE(fs::exists(a));
  REQUIRE(fs::exists(b));
  CHECK(file_bytes(a + "/model.safetensors") == file_bytes(b + "/model.safetensors"));
  const SafetensorsFile one = read_safetensors(a + "/state.safetensors"),
                        other = read_safetensors(b + "/state.safetensors");
  CHECK(one.tensors.size() >= 2);
  REQUIRE(one.tensors.size() == other.tensors.size());
  for (const auto& entry : one.tensors) CHECK(entry.second.values() == other.tensors.at(entry.first).values());
  auto state = nlohmann::json::parse(one.metadata.at("training")),
       other_state = nlohmann::json::parse(other.metadata.at("training"));
  for (const char* of_the_process : {"seconds", "peak_bytes"}) {
    state.erase(of_the_process);
    other_state.erase(of_the_process);
  }
  CHECK(state == other_state);
}

void check_same_run(const std::string& a, const std::string& b) {
  CHECK(file_bytes(a + "/model.safetensors") == file_bytes(b + "/model.safetensors"));
  CHECK(metrics_of(a) == metrics_of(b));
  const auto checkpoints = [](const std::string& run) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(run + "/checkpoints")) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  };
  REQUIRE(checkpoints(a) == checkpoints(b));
  for (const std::string& name : checkpoints(a))
    check_same_checkpoint(a + "/checkpoints/" + name, b + "/checkpoints/" + name);
}

std::vector<std::string> tiny(const std::vector<std::string>& more) {
  std::vector<std::string> arguments{"train",
                                     "--pairs",
                                     "120",
                                     "--valid",
                                     "20",
                                     "--test",
                                     "1",
                                     "--embed",
                                     "6",
                                     "--hidden",
                                     "6",
                                     "--layers",
                                     "1",
                                     "--epochs",
                                     "1000",
                                     "--batch-tokens",
                                     "150",
                                     "--accumulate",
                                     "2",
                                     "--dropout",
                                     "0.2",
                                     "--schedule",
                                     "inverse-sqrt",
                                     "--warmup",
                                     "50",
                                     "--valid-bleu",
                                     "5"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("a training in pieces is the training in one piece, wherever it is cut") {
    const TemporaryDirectory place;
    RunConfig config = small_training();
    config.validate_every = 3;
    config.checkpoint_every = 2;
    const std::string whole = place.file("whole");
    fs::create_directory(whole);
    const Index updates = Heard(whole, config).summary.updates;
    CHECK(updates >= 12);
    for (Index piece : {1, 3, 5}) {
      const std::string cut = place.file(fmt::format("cut-{}", piece));
      fs::create_directory(cut);
      Heard now(cut, config, {false, piece});
      CHECK(now.summary.stopped.empty());
      CHECK_FALSE(fs::exists(cut + "/summary.json"));
      int calls = 1;
      for (; now.summary.stopped.empty(); ++calls) now = Heard(cut, config, {true, piece});
      CHECK(calls == (updates - 1) / piece + 1);
      check_same_run(whole, cut);
    }
  }

  TEST_CASE("a training that has ended stays as it is; one that goes on has no summary until it ends again") {
    const TemporaryDirectory place;
    RunConfig config = small_training();
    const Heard first(place.path(), config);
    const std::string summary = place.file("summary.json");
    // The figures are those of who trained, not of who looked.
    auto figures = nlohmann::json::parse(file_bytes(summary));
    CHECK(figures["peak_bytes"] == first.summary.peak_bytes);
    figures["threads"] = 77;
    place.write("summary.json", figures.dump());
    const auto before = directory_bytes(place.path());
    CHECK(Heard(place.path(), config, {true, 0}).summary.updates == first.summary.updates);
    CHECK(directory_bytes(place.path()) == before);
    // A kill just before the summary.
    fs::remove(summary);
    CHECK(Heard(place.path(), config, {true, 0}).summary.peak_bytes == first.summary.peak_bytes);
    CHECK(nlohmann::json::parse(file_bytes(summary))["peak_bytes"] == first.summary.peak_bytes);

    config.epochs = 6;
    CHECK(Heard(place.path(), config, {true, 1}).summary.stopped.empty());
    CHECK_FALSE(fs::exists(summary));
    // Another process took more.
    const std::string state = place.file("checkpoints/last/state.safetensors");
    SafetensorsFile file = read_safetensors(state);
    auto training = nlohmann::json::parse(file.metadata.at("training"));
    training["peak_bytes"] = std::size_t{1} << 50;
    file.metadata["training"] = training.dump();
    write_safetensors(state, file);
    CHECK(Heard(place.path(), config, {true, 0}).summary.peak_bytes == std::size_t{1} << 50);
    CHECK(nlohmann::json::parse(file_bytes(summary))["peak_bytes"] == std::size_t{1} << 50);
  }

  TEST_CASE("what may change when a training goes on, and what may not") {
    const RunConfig run = small_training();
    RunConfig asked = run;
    asked.epochs = 20;
    asked.updates = 100;
    asked.patience = 7;
    asked.keep = 1;
    asked.checkpoint_every = 9;
    CHECK_NOTHROW(require_same_training(run, asked));
    asked.hidden = 6;
    CHECK_THROWS_WITH_AS(require_same_training(run, asked), "--hidden: must be as in the run that goes on, 5; given 6",
                         UsageError);
    asked = run;
    asked.low_memory = true;
    CHECK_THROWS_WITH_AS(require_same_training(run, asked),
                         "--low-memory: must be as in the run that goes on, false; given true", UsageError);
    asked = run;
    asked.feed_forward = 512;
    CHECK_THROWS_WITH_AS(require_same_training(run, asked), "--ffn: must be as in the run that goes on, 256; given 512",
                         UsageError);
    asked = run;
    asked.feed_forward_dropout = 0.5;
    CHECK_THROWS_WITH_AS(require_same_training(run, asked),
                         "--ffn-dropout: must be as in the run that goes on, 0.0; given 0.5", UsageError);
    asked = run;
    asked.valid_files = {"a.tsv"};
    CHECK_THROWS_WITH_AS(require_same_training(run, asked),
                         "--valid: must be as in the run that goes on, []; given [\"a.tsv\"]", UsageError);
    asked = run;
    asked.test_files = {"a.tsv"};
    CHECK_THROWS_WITH_AS(require_same_training(run, asked),
                         "--test: must be as in the run that goes on, []; given [\"a.tsv\"]", UsageError);
    RunConfig linear = run;
    linear.schedule = "linear";
    asked = linear;
    asked.epochs = 20;
    CHECK_THROWS_WITH_AS(require_same_training(linear, asked),
                         "--epochs: must be as in the run that goes on, 4; given 20", UsageError);
  }
}

TEST_SUITE("train") {
  TEST_CASE("200 updates equal 100, a stop, and 100 more") {
    const TemporaryDirectory place;
    const std::string whole = place.file("whole"), cut = place.file("cut");
    REQUIRE(run_program(tiny({"--updates", "200", "--out", whole})).status == 0);
    const Outcome first = run_program(tiny({"--updates", "200", "--stop-after", "100", "--out", cut}));
    REQUIRE(first.status == 0);
    CHECK(first.out.find("stopped after 100 updates; tapestry train --resume " + cut + " goes on") !=
          std::string::npos);
    const Outcome second = run_program({"train", "--resume", cut, "--threads", "1"});
    CAPTURE(second.error);
    REQUIRE(second.status == 0);
    check_same_run(whole, cut);
    CHECK(run_program({"evaluate", cut}).status == 0);
  }

  TEST_CASE("a kill at any moment leaves a run that goes on, to the same end") {
    const TemporaryDirectory place;
    const std::string whole = place.file("whole"), killed = place.file("killed");
    const std::vector<std::string> more{"--updates", "150", "--checkpoint-every", "1", "--validate-every", "20"};
    std::vector<std::string> arguments = more;
    arguments.insert(arguments.end(), {"--out", whole});
    REQUIRE(run_program(tiny(arguments)).status == 0);
    arguments.back() = killed;
    // The configuration is what a run begins with; from then on any moment will do.
    REQUIRE(run_shell(start_until_written(tiny(arguments), killed + "/config.json") + kill_started).status == 0);
    // Each time it makes at least an epoch, and dies somewhere in the next ones.
    int in_the_middle = 0;
    for (const char* delay : {"0", "0.01", "0.02", "0.03", "0.05"}) {
      const std::vector<Index> made = Checkpoints(killed, 10).epochs();
      const std::string next = fmt::format("{}/checkpoints/epoch-{}", killed, made.empty() ? 1 : made.back() + 1);
      const std::string start = start_until_written({"train", "--resume", killed}, next);
      REQUIRE(run_shell(start + "sleep " + delay + "\n" + kill_started).status == 0);
      const auto state = Checkpoints(killed, 10).newest();
      REQUIRE(state);
      CHECK(state->update > 0);
      if (state->update == 150) break;  // this machine lets one program run long before it lets another
      ++in_the_middle;
    }
    CHECK(in_the_middle >= 1);
    const Outcome last = run_program({"train", "--resume", killed});
    CAPTURE(last.error);
    REQUIRE(last.status == 0);
    check_same_run(whole, killed);
    for (const auto& entry : fs::recursive_directory_iterator(killed)) CHECK(entry.path().extension() != ".partial");
  }

  TEST_CASE("resume: another text, other words and another shape are refused, and nothing is changed") {
    const TemporaryDirectory place;
    REQUIRE(run_shell("\"$tapestry\" corpus --pairs 80 > " + place.file("a.tsv")).status == 0);
    const std::string run = place.file("run"), text = file_bytes(place.file("a.tsv"));
    const std::vector<std::string> start{"train",    "--data",     place.file("a.tsv"),
                                         "--out",    run,          "--embed",
                                         "4",        "--hidden",   "4",
                                         "--layers", "1",          "--epochs",
                                         "3",        "--schedule", "constant",
                                         "--valid",  "5",          "--stop-after",
                                         "1"};
    REQUIRE(run_program(start).status == 0);
    const auto before = directory_bytes(run);
    const auto refused = [&](const std::vector<std::string>& more, int status, const std::string& message) {
      std::vector<std::string> arguments{"train", "--resume", run};
      arguments.insert(arguments.end(), more.begin(), more.end());
      const Outcome outcome = run_program(arguments);
      CAPTURE(outcome.error);
      CAPTURE(message);
      CHECK(outcome.complained(status));
      CHECK(outcome.error.find(message) != std::string::npos);
      CHECK(directory_bytes(run) == before);
    };
    refused({"--hidden", "8"}, 2, "--hidden: must be as in the run that goes on, 4; given 8");
    refused({"--seed", "8"}, 2, "--seed: must be as in the run that goes on, 1; given 8");
    refused({"--out", "x"}, 2, "--resume: cannot be given with --out, --preset or --force");
    refused({"--stop-after", "-1"}, 2, "--stop-after: must be at least 0; given -1");
    place.write("a.tsv", "a b .\tc d .\n" + text);
    const std::string other = "run: to go on, the training text must be the one that it began with; ";
    refused({}, 1, other + "it had 75 pairs, given 76");  // the other one is drawn for validation
    // As many pairs, the first with a token more; then with another one.
    const std::string::size_type end = text.find('\n');
    place.write("a.tsv", text.substr(0, end) + " zebra" + text.substr(end));
    refused({}, 1, other + "it had 1400 tokens, given 1401");
    place.write("a.tsv", "Zebra" + text.substr(text.find(' ')));
    refused({}, 1, other + "its fingerprint was ");
    place.write("a.tsv", text);
    const std::string words = file_bytes(run + "/source.vocab");
    place.write("run/source.vocab", words + "zebra\n");
    const Outcome longer = run_program({"train", "--resume", run});
    CHECK(longer.complained(1));
    CHECK(longer.error.find("source.vocab: to go on, the words must be those of the text; it has ") !=
          std::string::npos);
    place.write("run/source.vocab", words.substr(0, words.find('\n', 30) + 1) + "zebra" +
                                        words.substr(words.find('\n', words.find('\n', 30) + 1)));
    CHECK(run_program({"train", "--resume", run}).error.find(" is zebra, not ") != std::string::npos);
    place.write("run/source.vocab", words);
    CHECK(directory_bytes(run) == before);
    CHECK(run_program({"train", "--resume", place.file("none")}).complained(1));
    CHECK(run_program({"train", "--resume", run}).status == 0);
  }

  TEST_CASE("train --force and a stop: the old run stays until the new one, beside it, ends") {
    const TemporaryDirectory place;
    const std::string run = place.file("run");
    REQUIRE(run_program(tiny({"--updates", "4", "--out", run})).status == 0);
    const auto before = directory_bytes(run);
    const Outcome stopped =
        run_program(tiny({"--updates", "6", "--stop-after", "2", "--seed", "9", "--out", run, "--force"}));
    REQUIRE(stopped.status == 0);
    CHECK(stopped.out.find("tapestry train --resume " + fs::canonical(run).string() + ".new goes on") !=
          std::string::npos);
    CHECK(directory_bytes(run) == before);
    REQUIRE(run_program({"train", "--resume", run + ".new", "--stop-after", "1"}).status == 0);
    CHECK(directory_bytes(run) == before);
    // At its end it takes the place that it was made for.
    const Outcome ended = run_program({"train", "--resume", run + ".new"});
    CHECK(ended.out.ends_with("\nrun     " + fs::canonical(run).string() + "\n"));
    const auto updates_of = [](const std::string& of) {
      return nlohmann::json::parse(file_bytes(of + "/summary.json"))["updates"].get<int>();
    };
    CHECK(updates_of(run) == 6);
    CHECK_FALSE(fs::exists(run + ".new"));
    CHECK_FALSE(fs::exists(run + "/replaces"));
    // A run with checkpoints is replaced like any other.
    REQUIRE(run_program(tiny({"--updates", "3", "--out", run, "--force"})).status == 0);
    CHECK_FALSE(fs::exists(run + ".new"));
    CHECK_FALSE(fs::exists(run + "/replaces"));
    CHECK(updates_of(run) == 3);
    // A name alone replaces nothing.
    REQUIRE(run_program(tiny({"--updates", "4", "--stop-after", "2", "--out", run + ".new"})).status == 0);
    CHECK(run_program({"train", "--resume", run + ".new"}).status == 0);
    CHECK(updates_of(run + ".new") == 4);
    CHECK(updates_of(run) == 3);
  }
}
