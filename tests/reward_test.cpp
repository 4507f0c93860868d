#include "tools/reward.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/program.h"

using namespace tapestry;

TEST_SUITE("fast") {
  TEST_CASE("lab reward: bad values are refused in one line, good ones give one object and a picture") {
    const auto error = [](const char* option, const char* value) {
      return run_program({"lab", "reward", option, value}).error;
    };
    CHECK(error("--pairs", "0") == "tapestry: --pairs: must lie in [1, 500000]; given 0\n");
    CHECK(error("--epochs", "0") == "tapestry: --epochs: must lie in [1, 1000]; given 0\n");
    CHECK(error("--updates", "0") == "tapestry: --updates: must lie in [1, 100000]; given 0\n");
    CHECK(error("--batch", "4097") == "tapestry: --batch: must lie in [1, 4096]; given 4097\n");
    CHECK(error("--lr", "-1") == "tapestry: --lr: must lie in [0, 1]; given -1\n");
    const TemporaryDirectory place;
    const std::string picture = place.file("reward.svg");
    const auto run = [&](const char* threads) {
      return run_program({"lab", "reward", "--pairs", "200", "--epochs", "1", "--updates", "27", "--batch", "4",
                          "--threads", threads, "--json", "--out", picture});
    };
    const Outcome outcome = run("1");
    REQUIRE(outcome.status == 0);
    CHECK(run("2").out == outcome.out);
    const auto json = nlohmann::json::parse(outcome.out);
    REQUIRE(json["blocks"].size() == 2);
    CHECK(json["blocks"][1]["first"] == 26);
    CHECK(json["blocks"][1]["last"] == 27);
    for (const char* way : {"greedy", "sampled"})
      CHECK(json[way]["after"].get<double>() - json[way]["before"].get<double>() ==
            doctest::Approx(json[way]["difference"].get<double>()));
    CHECK(file_bytes(picture).starts_with("<svg "));
  }
}

TEST_SUITE("train") {
  TEST_CASE("lab reward: without a rate nothing is learnt, and nothing judged a gain") {
    core::Workers workers(2);
    RewardOptions options{500, 1, 3, 8, 0, 1};
    const RewardExperiment result = reward_experiment(options, workers);
    for (const RewardGain* gain : {&result.greedy, &result.sampled}) {
      CHECK(gain->after.hypotheses == gain->before.hypotheses);
      CHECK(gain->judged.difference == 0);
      CHECK(gain->judged.p_value == 1);
    }
    CHECK(result.loss_after == result.loss_before);
  }
}
