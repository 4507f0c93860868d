// Runs are scored and compared by the program, on untrained models.

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/program.h"
#include "tests/tiny_run.h"

using namespace tapestry;
using nlohmann::json;

namespace {

std::set<std::string> keys(const json& object) {
  std::set<std::string> names;
  for (const auto& [name, value] : object.items()) names.insert(name);
  return names;
}

}  // namespace

TEST_SUITE_BEGIN("fast");

TEST_CASE("evaluate: the figures, on the run's own test part and on a text of the user's") {
  const TinyRun run;
  const Outcome own = run_program({"evaluate", run.path(), "--json"});
  REQUIRE(own.status == 0);
  const json figures = json::parse(own.out);
  const std::set<std::string> scores{"loss",           "perplexity",      "bleu",
                                     "bleu_signature", "bleu_precisions", "brevity_penalty",
                                     "decoding",       "book_bleu",       "translation_length",
                                     "sentences",      "reference_length"};
  std::set<std::string> with_alignment = scores;
  with_alignment.insert({"alignment_error_rate", "diagonal_alignment_error_rate"});
  CHECK(keys(figures) == with_alignment);
  CHECK(figures["sentences"] == 12);
  CHECK(figures["perplexity"].get<double>() == doctest::Approx(std::exp(figures["loss"].get<double>())));

  const std::string text = run.place.write("text.tsv", "the cat .\tle chat .\na dog\tun chien\n");
  const json given = json::parse(run_program({"evaluate", run.path(), "--json", "--data", text}).out);
  CHECK(keys(given) == scores);
  CHECK(given["sentences"] == 2);
  CHECK(json::parse(run_program({"evaluate", run.path(), "--json", "--test", text}).out) == given);
  const std::string words = run_program({"evaluate", "--data", text, "--test", "1", run.path()}).out;
  CHECK(words.find("1 sentence, the test part of " + text) != std::string::npos);
  CHECK(words.find("nats per target token") != std::string::npos);
  CHECK(words.find("smooth:exp") != std::string::npos);
}

TEST_CASE("evaluate: what was scored can be written, and scored otherwise") {
  const TinyRun run;
  const std::string text = run.place.write("text.tsv", "the cat .\tLe chat .\na dog\tun chien\n"),
                    file = run.file("hypotheses.txt");
  const Outcome outcome = run_program({"evaluate", run.path(), "--json", "--data", text, "--hypotheses", file, "--beam",
                                       "2", "--length-penalty", "0.5", "--tokenize", "13a", "--lowercase"});
  REQUIRE(outcome.status == 0);
  const json figures = json::parse(outcome.out);
  CHECK(figures["decoding"] == "beam 2, length penalty 0.5");
  CHECK(figures["bleu_signature"] == "nrefs:1|case:lc|eff:no|tok:13a|smooth:exp|version:tapestry-" TAPESTRY_VERSION);
  CHECK(figures["reference_length"] == 5);
  CHECK(figures["bleu_precisions"].size() == 4);
  const std::string written = file_bytes(file);
  CHECK(count_lines(written) == 2);
  CHECK(written ==
        run_program({"translate", run.path(), "--beam", "2", "--length-penalty", "0.5"}, "the cat .\na dog\n").out);
  CHECK(run_program({"evaluate", run.path(), "--data", text}).out.find("; greedy") != std::string::npos);
}

TEST_CASE("evaluate: only what the run held out is its test part") {
  TinyRun run;
  CHECK(json::parse(run_program({"evaluate", run.path(), "--json", "--test", "5"}).out)["sentences"] == 5);
  const Outcome more = run_program({"evaluate", run.path(), "--test", "13"});
  CHECK(more.complained(2));
  CHECK(more.error.find("--test: must be at most the 12 source sentences that the run held out; given 13") !=
        std::string::npos);
  const Outcome other = run_program({"evaluate", run.path(), "--split-seed", "2"});
  CHECK(other.complained(2));
  CHECK(other.error.find("--split-seed: says how to read --data") != std::string::npos);

  json config = json::parse(file_bytes(run.file("config.json")));
  config["test"] = 0;
  run.place.write("config.json", config.dump());
  const Outcome none = run_program({"evaluate", run.path()});
  CHECK(none.complained(2));
  CHECK(none.error.find("test part: the run must have held one out; it did not: give --test FILE") !=
        std::string::npos);
}

TEST_CASE("compare: two runs on one test part") {
  const TinyRun a, b("seq2seq");
  const Outcome outcome = run_program({"compare", a.path(), b.path(), "--samples", "50", "--json"});
  REQUIRE(outcome.status == 0);
  const json figures = json::parse(outcome.out);
  CHECK(keys(figures) == std::set<std::string>{"bleu", "bleu_signature", "decoding", "difference", "interval",
                                               "p_value", "sentences", "samples"});
  CHECK(figures["bleu"].size() == 2);
  const Outcome beams =
      run_program({"compare", a.path(), b.path(), "--samples", "9", "--beam", "2", "--tokenize", "13a"});
  CHECK(beams.out.find("beam 2, length penalty 1; nrefs:1|case:mixed|eff:no|tok:13a") != std::string::npos);
  CHECK(run_program({"compare", a.path(), b.path(), "--samples", "0"}).complained(2));

  json config = json::parse(file_bytes(b.file("config.json")));
  config["split_seed"] = 2;
  b.place.write("config.json", config.dump());
  const Outcome differ = run_program({"compare", a.path(), b.path()});
  CHECK(differ.complained(1));
  CHECK(differ.error.find("compare: both runs must be scored on the same test part") != std::string::npos);
}

TEST_CASE("evaluate: attention against gold links, and BLEU by length") {
  const TinyRun run;
  const std::string text = run.place.write("text.tsv", "the cat .\tle chat .\na dog\tun chien\nthe\tle\n"),
                    gold = run.place.write("gold", "0-0 1-1 2-2\n0-0 1-1\n0-0\n");
  const auto figures = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"evaluate", run.path(), "--json", "--data", text};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run_program(arguments);
    CAPTURE(outcome.error);
    REQUIRE(outcome.status == 0);
    return json::parse(outcome.out);
  };
  // The gold links lie on the diagonal.
  const json aligned = figures({"--alignments", gold});
  CHECK(aligned["diagonal_alignment_error_rate"] == 0);
  CHECK(aligned["alignment_error_rate"].get<double>() > 0);
  const std::string crossed = run.place.write("crossed", "0-2 1-1 2-0\n1-0 0-1\n0-0\n");
  // 1 + 0 + 1 of the diagonal's 6 links are among the 6.
  CHECK(figures({"--alignments", crossed})["diagonal_alignment_error_rate"].get<double>() == doctest::Approx(4.0 / 6));

  const json lengths = figures({"--by-length", "1-2,3-3,4-9"})["by_length"];
  REQUIRE(lengths.size() == 3);
  CHECK(lengths[0]["sentences"] == 2);
  CHECK(lengths[1] == json{{"shortest", 3}, {"longest", 3}, {"sentences", 1}, {"bleu", lengths[1]["bleu"]}});
  CHECK(lengths[2]["bleu"] == 0);
  const json whole = figures({"--by-length", "1-9"});
  CHECK(whole["by_length"][0]["bleu"] == whole["bleu"]);
  CHECK(run_program({"evaluate", run.path(), "--data", text, "--by-length", "1-2"})
            .out.find("of the 2 sentences of so many source tokens") != std::string::npos);
}

TEST_CASE("evaluate: gold links that are not of the text are told by their line") {
  const TinyRun run, plain("seq2seq");
  const std::string text = run.place.write("text.tsv", "the cat .\tle chat\n"),
                    one = run.place.write("one", "0-0 2-1\n"), outside = run.place.write("outside", "1-2\n"),
                    two = run.place.write("two", "0-0\n0-0\n");
  const auto evaluate = [&](const TinyRun& of, const std::string& gold, const char* direction) {
    return run_program({"evaluate", of.path(), "--data", text, "--alignments", gold, direction});
  };
  CHECK(evaluate(run, one, "--no-reverse").status == 0);
  CHECK(evaluate(run, one, "--reverse").status == 0);
  CHECK(evaluate(run, outside, "--no-reverse").error ==
        "tapestry: " + outside +
            ":1: links must lie within the 3 source and 2 target tokens; place 1 of the source, 2 of the target\n");
  CHECK(evaluate(run, two, "--no-reverse").error ==
        "tapestry: " + two + ": must have a line for each sentence pair; it has 2, the text has 1\n");
  CHECK(evaluate(plain, one, "--no-reverse").error.find("--alignments: the model must have attention") !=
        std::string::npos);
}

TEST_SUITE_END();
