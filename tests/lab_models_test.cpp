// The experiments with positions, language models and labels, as a user runs them.

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/program.h"

using namespace tapestry;

namespace {

nlohmann::json lab(const std::vector<std::string>& arguments) {
  std::vector<std::string> all{"lab"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  all.emplace_back("--json");
  const Outcome outcome = run_program(all);
  CHECK(outcome.error == "");
  REQUIRE(outcome.status == 0);
  return nlohmann::json::parse(outcome.out);
}

void check_refused(const std::vector<std::string>& arguments, int status, const std::string& message) {
  std::vector<std::string> all{"lab"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const Outcome outcome = run_program(all);
  CHECK(outcome.status == status);
  CHECK(outcome.error == "tapestry: " + message + "\n");
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("lab positions: a distance is a rotation, and there is a picture") {
    const TemporaryDirectory place;
    const std::string picture = place.file("positions.svg");
    const nlohmann::json json = lab({"positions", "--width", "8", "--positions", "6", "--out", picture});
    CHECK(json["rotation_error"].get<double>() <= 1e-13);
    CHECK(json["ratio"] == doctest::Approx(10));
    CHECK(json["periods"].size() == 4);
    CHECK(json["products"].size() == 6);
    const std::string svg = file_bytes(picture);
    CHECK(svg.find(">Positions</text>") != std::string::npos);
    CHECK(svg.find(">bit 2</text>") != std::string::npos);
    CHECK(run_program({"lab", "positions"}).out.find("largest error") != std::string::npos);
    check_refused({"positions", "--width", "7"}, 2,
                  "--width: must be even, for sines and cosines come in pairs; given 7");
    check_refused({"positions", "--positions", "1"}, 2, "--positions: must lie in [2, 512]; given 1");
    check_refused({"positions", "--out", ""}, 2, "--out: must name a file; given an empty name");
  }

  TEST_CASE("lab lm: the same bytes on any number of threads, by character and by word, with learned positions") {
    const TemporaryDirectory place;
    std::string text;
    for (int line = 0; line < 60; ++line) text += "le chat dort .\nÇa va ?\n";
    const std::string data = place.write("text", text);
    for (const std::string unit : {"char", "word"}) {
      const std::vector<std::string> small{"lm",      "--data",    data, "--unit",   unit,   "--width",
                                           "8",       "--heads",   "2",  "--layers", "1",    "--context",
                                           "12",      "--updates", "60", "--lr",     "0.02", "--positions",
                                           "learned", "--sample",  "20", "--threads"};
      std::vector<std::string> one = small, two = small;
      one.emplace_back("1");
      two.emplace_back("2");
      const nlohmann::json json = lab(one);
      CHECK(json == lab(two));
      CHECK(json["held_out_loss"].back() < json["unigram_loss"]);
      CHECK(json["updates"].back() == 60);
      CHECK(json["sample"].get<std::string>().size() > 10);
    }
  }

  TEST_CASE("lab lm: text and sizes that cannot be meant are refused") {
    const TemporaryDirectory place;
    const auto with = [&](const std::string& name, const std::string& text) {
      return std::vector<std::string>{"lm", "--data", place.write(name, text)};
    };
    check_refused(with("empty", ""), 1, place.file("empty") + ": file must hold text; it is empty");
    check_refused(with("bytes", "a\n\xff\n"), 1,
                  place.file("bytes") + ":2: text must be UTF-8; byte 1 of the line is 0xff");
    check_refused(with("short", "a\n"), 1,
                  "language_model: the text must have at least 4 chars, ends of lines counted; given 2");
    check_refused(with("sentence", "a cat sleeps .\n"), 2,
                  "--context: must be less than the 13 chars of the training text; given 64");
    check_refused({"lm", "--data", place.file("none")}, 1,
                  place.file("none") + ": must be readable; No such file or directory");
    check_refused({"lm", "--data", ""}, 2, "--data: must name a file; given an empty name");
    check_refused({"lm", "--unit", "byte"}, 2, "--unit: must be one of char, word; given byte");
    check_refused({"lm", "--width", "10"}, 2,
                  "--width: must be even, for the positions, and a multiple of the heads; given 10 and 4 heads");
    check_refused({"lm", "--temperature", "0"}, 2, "--temperature: must be above 0; given 0");
    check_refused({"lm", "--updates", "0"}, 2, "--updates: must lie in [1, 1000000]; given 0");
    check_refused({"lm", "--lr", "0"}, 2, "--lr: must be above 0; given 0");
  }

  TEST_CASE("lab classify, tag and lengths: the same bytes on any number of threads") {
    for (std::vector<std::string> arguments :
         {std::vector<std::string>{"classify", "--length", "1-4", "--longer", "5-6", "--width", "4"},
          {"classify", "--task", "depth", "--encoder", "transformer", "--width", "4"},
          {"tag", "--width", "4"},
          {"lengths", "--longest", "8", "--hidden", "8"}}) {
      CAPTURE(arguments[0]);
      arguments.insert(arguments.end(), {"--updates", "5", "--threads"});
      std::vector<std::string> two = arguments;
      arguments.emplace_back("1");
      two.emplace_back("2");
      const nlohmann::json json = lab(arguments);
      CHECK(json == lab(two));
    }
  }

  TEST_CASE("lab classify, tag and lengths: sizes that cannot be meant are refused") {
    check_refused({"classify", "--task", "sum"}, 2, "--task: must be one of parity, depth; given sum");
    check_refused({"classify", "--length", "0-4"}, 2,
                  "--length: must be LOW-HIGH with 1 <= LOW <= HIGH <= 1000; given 0-4");
    check_refused({"classify", "--encoder", "lstm"}, 2, "--encoder: must be one of gru, transformer; given lstm");
    check_refused({"classify", "--width", "3"}, 2, "--width: must be even and lie in [2, 1024]; given 3");
    check_refused({"tag", "--longest", "2"}, 2, "--longest: must lie in [6, 12]; given 2");
    check_refused({"tag", "--longest", "13"}, 2, "--longest: must lie in [6, 12]; given 13");
    check_refused({"lengths", "--longest", "7"}, 2, "--longest: must lie in [8, 100]; given 7");
    check_refused({"lengths", "--task", "shuffle"}, 2, "--task: must be one of copy, reverse, sort; given shuffle");
    check_refused({"lengths", "--hidden", "0"}, 2, "--hidden: must lie in [1, 1024]; given 0");
  }
}
