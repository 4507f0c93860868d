// What a model costs, told before it runs.

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "models/model_cost.h"
#include "models/run_config.h"
#include "tests/program.h"
#include "tools/gemm_floor.h"

using namespace tapestry;

namespace {

nlohmann::json described(const std::vector<std::string>& arguments) {
  std::vector<std::string> all{"describe", "--json", "--preset"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const Outcome outcome = run_program(all);
  CHECK(outcome.status == 0);
  return nlohmann::json::parse(outcome.out);
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("the operations of a step are those of the floor's list of products") {
    // The list leaves out what the score of a source position costs, as PyTorch's script does.
    const std::vector<std::string> book{"--source-words", "188", "--target-words", "201", "--tokens", "10"};
    const auto operations = [&](std::vector<std::string> arguments, double tokens) {
      return described(arguments)["operations_per_token"].get<double>() * tokens;
    };
    const auto with = [](std::string preset, std::vector<std::string> more) {
      more.insert(more.begin(), std::move(preset));
      return more;
    };
    CHECK(operations(with("d2l-transformer", book), 640) ==
          doctest::Approx(floating_point_operations(floor_products("d2l-transformer"))).epsilon(1e-9));
    CHECK(operations(with("transformer-tiny", {"--tokens", "16"}), 2048) ==
          doctest::Approx(floating_point_operations(floor_products("transformer-tiny"))).epsilon(1e-9));
    CHECK(operations(with("transformer-base", {"--tokens", "32"}), 1024) ==
          doctest::Approx(floating_point_operations(floor_products("transformer-base"))).epsilon(1e-9));
    CHECK(operations(with("d2l-bahdanau", book), 640) ==
          doctest::Approx(floating_point_operations(floor_products("d2l-bahdanau"))).epsilon(0.03));
    std::vector<std::string> lstm = with("d2l-bahdanau", book);
    lstm.insert(lstm.end(), {"--cell", "lstm"});
    CHECK(operations(lstm, 640) == doctest::Approx(floating_point_operations(floor_products("lstm"))).epsilon(0.03));
  }

  TEST_CASE("describe lists every parameter, and says what is tied to which") {
    const auto tiny = described({"transformer-tiny", "--source-words", "1000"});
    // The table, four encoder layers of 4 D^2 + 2 D F + 4 D (attention biases) + F + D + 4 D (norms), four of the
    // decoder with another attention and norm.
    const Index d = 128, f = 256, attention = 4 * d * d + 4 * d, feed_forward = 2 * d * f + f + d, norm = 2 * d;
    CHECK(tiny["parameters"] ==
          1000 * d + 4 * (attention + feed_forward + 2 * norm) + 4 * (2 * attention + feed_forward + 3 * norm));
    CHECK(tiny["rows"][0]["name"] == "src_embed.weight");
    CHECK(tiny["rows"][0]["shape"] == nlohmann::json{1000, 128});
    const std::string text = run_program({"describe", "--preset", "transformer-tiny"}).out;
    CHECK(text.find("out.weight") != std::string::npos);
    CHECK(text.find("is src_embed.weight") != std::string::npos);
  }

  TEST_CASE("describe shows the score of Bahdanau's attention, and what it costs") {
    const std::string text = run_program({"describe", "--score", "network", "--normaliser", "relu"}).out;
    CHECK(text.find("attention   network, normalised by relu\n") != std::string::npos);
    CHECK(text.find("decoder.attention.W_h.weight") != std::string::npos);
    CHECK(run_program({"describe", "--model", "transformer"}).out.find("attention   ") == std::string::npos);
    const auto with = [](const char* score) { return described({"quickstart-book", "--score", score}); };
    CHECK(with("dot")["score"] == "dot");
    CHECK(with("dot")["normaliser"] == "softmax");
    const auto operations = [&](const char* score) { return with(score)["operations_per_token"].get<double>(); };
    CHECK(operations("dot") < operations("general"));
    CHECK(operations("general") < operations("network"));
  }

  TEST_CASE("describe says how places are told, and lists the tables of learned positions") {
    const auto learned = described({"transformer-tiny", "--positions", "learned", "--max-positions", "40"});
    CHECK(learned["positions"] == "learned positions");
    CHECK(learned["rows"][1]["name"] == "src_embed.positions.weight");
    CHECK(learned["rows"][1]["shape"] == nlohmann::json{40, 128});
    CHECK(learned["parameters"] == described({"transformer-tiny"})["parameters"].get<Index>() + 2 * 40 * 128);
    CHECK(described({"transformer-tiny", "--positions", "none"})["positions"] == "no positions");
    CHECK(described({"quickstart"})["positions"] == "");
    CHECK(run_program({"describe", "--preset", "multi30k"}).out.starts_with("transformer, sinusoidal positions, "));
  }

  TEST_CASE("describe refuses sizes that are none") {
    CHECK(run_program({"describe", "--tokens", "1"}).error == "tapestry: --tokens: must lie in [2, 65536]; given 1\n");
    CHECK(run_program({"describe", "--source-words", "4"}).error ==
          "tapestry: --source-words: must lie in [5, 16777216]; given 4\n");
    CHECK(run_program({"describe", "--preset", "huge"}).status == 2);
    CHECK(run_program({"describe", "--preset", "multi30k", "--tokens", "5000"}).error ==
          "tapestry: --batch-tokens: must hold the longest sentence, 5000 tokens with <eos>; given 4096\n");
    for (const std::string option : {"--batch", "--batch-tokens"}) {
      const Outcome outcome = run_program({"describe", option, "9223372036854775807"});
      CHECK(outcome.complained(2));
      CHECK(outcome.error == "tapestry: " + option + ": must be at most 16777216; given 9223372036854775807\n");
    }
    for (const char* pairs : {"-1", "1000000000001"})
      CHECK(run_program({"describe", "--pairs", pairs}).error ==
            std::string("tapestry: --pairs: must lie in [0, 1000000000000]; given ") + pairs + "\n");
  }

  TEST_CASE("with low memory, describe counts one buffer of gradients and one shard") {
    const auto bytes = [](std::vector<std::string> more) {
      more.insert(more.begin(), {"transformer-base", "--shards", "2"});
      return described(more)["peak_bytes"].get<double>();
    };
    const auto parameters = described({"transformer-base"})["parameters"].get<double>();
    CHECK(bytes({}) - bytes({"--low-memory"}) > 4 * parameters);
  }

  TEST_CASE("describe takes more pairs than the built-in corpus has") {
    const auto few = described({"multi30k", "--pairs", "29000"}), many = described({"multi30k", "--pairs", "4500000"});
    CHECK(many["peak_bytes"].get<double>() > few["peak_bytes"].get<double>());
    CHECK(run_program({"describe", "--pairs", "600000"}).status == 0);
  }
}

TEST_SUITE("train") {
  // Within 15 % of what the run then shows. A sentence of the built-in corpus has at most 18 tokens.
  TEST_CASE("describe predicts the memory of training, and shards and text count") {
    const TemporaryDirectory place;
    double last = 0;
    for (const auto& [preset, pairs] : {std::pair("quickstart", "4000"), std::pair("quickstart-transformer", "4000"),
                                        std::pair("quickstart-transformer", "20000")}) {
      const std::string run = place.file(std::string(preset) + pairs);
      REQUIRE(run_program({"train", "--preset", preset, "--pairs", pairs, "--epochs", "1", "--valid", "100", "--test",
                           "0", "--valid-bleu", "20", "--threads", "2", "--out", run})
                  .status == 0);
      const auto shown = nlohmann::json::parse(file_bytes(run + "/summary.json"))["peak_bytes"].get<double>();
      const auto predicted = described({preset, "--pairs", pairs, "--source-words", "411", "--target-words", "573",
                                        "--tokens", "18"})["peak_bytes"]
                                 .get<double>();
      CAPTURE(shown);
      CAPTURE(predicted);
      CHECK(predicted == doctest::Approx(shown).epsilon(0.15));
      CHECK(predicted > last);
      last = predicted;
    }
  }
}
