// The subcommands that need no training, on an untrained model.

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/program.h"
#include "tests/tiny_run.h"

using namespace tapestry;
using nlohmann::json;

TEST_SUITE_BEGIN("fast");

TEST_CASE("program: every subcommand has help, and the version is said") {
  CHECK(run_program({"--version"}).out == "tapestry " TAPESTRY_VERSION "\n");
  const Outcome all = run_program({"--help"});
  for (const char* command : {"train", "translate", "evaluate", "compare", "corpus", "gradcheck"}) {
    CHECK(all.out.find(command) != std::string::npos);
    const Outcome help = run_program({command, "--help"});
    CHECK(help.status == 0);
    CHECK(help.error.empty());
    CHECK(help.out.find("--help") != std::string::npos);
  }
}

TEST_CASE("translate: as many lines out as in") {
  const TinyRun run;
  struct Case {
    std::string in;
    std::size_t lines;
  };
  std::string many;
  for (int i = 0; i < 2100; ++i) many += i % 3 == 0 ? "\n" : "cat .\n";
  for (const Case& one : {Case{"", 0},
                          {"\n", 1},
                          {"the cat .", 1},
                          {"the cat .\n\na dog", 3},
                          {"a\r\n\r\nb\r\n", 3},
                          {"zebras quite unheard of\n", 1},
                          {"<eos> <pad>\n", 1},
                          {many, 2100}}) {
    const Outcome outcome = run_program({"translate", run.path(), "--threads", "1"}, one.in);
    CAPTURE(one.in.substr(0, 40));
    CAPTURE(outcome.error);
    CHECK(outcome.status == 0);
    CHECK(outcome.error.empty());
    CHECK(count_lines(outcome.out) == one.lines);
  }
}

TEST_CASE("translate: an empty line stays empty, and a line has its translation wherever it stands") {
  const TinyRun run;
  const std::string alone = run_program({"translate", run.path(), "the cat ."}).out;
  CHECK(run_program({"translate", run.path()}, "\n \t \nthe cat .\n").out == "\n\n" + alone);
  CHECK(run_program({"translate", run.path(), "", "the cat ."}).out == "\n" + alone);
  // What other programs would take for a list, a subcommand or an option.
  CHECK(count_lines(run_program({"translate", run.path(), "[cat, dog]", "train", "- dog", "a\nb"}).out) == 4);
}

TEST_CASE("translate: a very long sentence is cut with a warning, and bytes that are no text are told by their line") {
  const TinyRun run;
  std::string longest;
  for (int i = 0; i < 1500; ++i) longest += "cat ";
  const Outcome cut = run_program({"translate", run.path()}, "a\n" + longest + "\n");
  CHECK(cut.status == 0);
  CHECK(count_lines(cut.out) == 2);
  CHECK(cut.error == "tapestry: warning: standard input:2: only the first 1000 of 1500 tokens are translated\n");

  const Outcome bytes = run_program({"translate", run.path()}, "a\nd\xe9j\xe0\n");
  CHECK(bytes.complained(1));
  CHECK(bytes.error.find("standard input:2: ") != std::string::npos);
  CHECK(run_program({"translate", run.path(), "a", "\xff"}).error.find("sentence 2: ") != std::string::npos);
}

TEST_CASE("train: warns in the same words as translate") {
  const TemporaryDirectory place;
  const Outcome outcome = run_program({"train", "--pairs", "20", "--valid", "0", "--test", "0", "--embed", "4",
                                       "--hidden", "4", "--lr", "0.5", "--updates", "1", "--out", place.file("run")});
  CHECK(outcome.status == 0);
  CHECK(outcome.out.find("\ntapestry: warning: the rate reaches 0.5 at update ") != std::string::npos);
}

TEST_CASE("translate: attention as a picture and as numbers") {
  const TinyRun run;
  const std::string svg = run.file("a.svg"), tsv = run.file("a.tsv");
  CHECK(run_program({"translate", run.path(), "--attention", svg, "the <cat> & .", "", "a dog"}).status == 0);
  const std::string picture = file_bytes(svg);
  CHECK(picture.starts_with("<svg "));
  CHECK(picture.find("&lt;cat&gt;") != std::string::npos);
  CHECK(picture.find("<script") == std::string::npos);

  CHECK(run_program({"translate", run.path(), "--attention", tsv, "the cat", "", "dog"}).status == 0);
  std::ifstream lines(tsv);
  std::string line;
  std::getline(lines, line);
  CHECK(line == "sentence\ttarget_place\ttarget\tsource_place\tsource\tweight");
  std::map<std::pair<int, int>, double> sums;  // of the weights of each target token
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    int sentence, target_place, source_place;
    std::string target, source;
    double weight;
    fields >> sentence >> target_place >> target >> source_place >> source >> weight;
    CHECK(fields);
    sums[{sentence, target_place}] += weight;
    if (source_place == (sentence == 1 ? 3 : 2)) CHECK(source == "<eos>");
    CHECK(source_place <= (sentence == 1 ? 3 : 2));
  }
  CHECK(sums.count({1, 1}) == 1);
  CHECK(sums.lower_bound({2, 0})->first.first == 3);
  for (const auto& [place, sum] : sums) CHECK(sum == doctest::Approx(1).epsilon(1e-4));
}

TEST_CASE("translate: the best of a beam, with their scores") {
  const TinyRun run;
  const std::string sentences = "the cat .\n\na dog sees the cat .\n";
  const Outcome list = run_program({"translate", run.path(), "--beam", "3", "--n-best", "2"}, sentences),
                one = run_program({"translate", run.path(), "--beam", "3", "--length-penalty", "1"}, sentences);
  REQUIRE(list.status == 0);
  REQUIRE(one.status == 0);
  CHECK(count_lines(one.out) == 3);
  std::istringstream lines(list.out);
  std::string line, best;
  std::map<int, std::vector<double>> scores;  // of each sentence
  while (std::getline(lines, line)) {
    std::vector<std::string> fields(1);
    for (const char c : line) c == '\t' ? fields.emplace_back() : fields.back() += std::string(1, c);
    REQUIRE(fields.size() == 5);
    auto& of_sentence = scores[std::stoi(fields[0])];
    of_sentence.push_back(std::stod(fields[2]));
    CHECK(std::stoi(fields[1]) == static_cast<int>(of_sentence.size()));
    CHECK(std::stod(fields[3]) <= std::stod(fields[2]));
    if (of_sentence.size() == 1) best += fields[4] + "\n";
  }
  CHECK(best == one.out);
  CHECK(scores.size() == 3);
  CHECK(scores[2] == std::vector<double>{0});
  for (const int sentence : {1, 3}) {
    REQUIRE(scores[sentence].size() == 2);
    CHECK(scores[sentence][0] >= scores[sentence][1]);
  }
  CHECK(run_program({"translate", run.path(), "--beam", "1"}, sentences).out ==
        run_program({"translate", run.path()}, sentences).out);
  CHECK(run_program({"translate", run.path(), "--beam", "2", "--attention", run.file("b.svg"), "a dog"}).status == 0);
}

TEST_CASE("translate: drawn translations depend on the seed and the line, not on the threads") {
  const TinyRun run;
  std::string many;
  for (int i = 0; i < 1100; ++i) many += "the cat .\n";
  const auto drawn = [&](const char* seed, const char* threads) {
    return run_program({"translate", run.path(), "--sample", "--seed", seed, "--top-k", "3", "--threads", threads},
                       many)
        .out;
  };
  const std::string first = drawn("1", "1");
  CHECK(count_lines(first) == 1100);
  CHECK(drawn("1", "2") == first);
  CHECK(drawn("2", "1") != first);
  // Of the 1024 lines that are translated at once, those that follow are no repetition.
  std::istringstream lines(first);
  std::vector<std::string> each;
  for (std::string line; std::getline(lines, line);) each.push_back(line);
  REQUIRE(each.size() == 1100);
  CHECK_FALSE(std::equal(each.begin() + 1024, each.end(), each.begin()));
}

TEST_CASE("translate: a model without attention has none to draw") {
  const TinyRun run("seq2seq");
  CHECK(run_program({"translate", run.path(), "a dog"}).status == 0);
  const Outcome outcome = run_program({"translate", run.path(), "--attention", run.file("a.svg"), "a dog"});
  CHECK(outcome.complained(1));
  CHECK(outcome.error.find("--attention: the model must have attention") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(run.file("a.svg")));
}

TEST_CASE("corpus: pairs, alignments, figures") {
  const Outcome pairs = run_program({"corpus", "--pairs", "7"}),
                aligned = run_program({"corpus", "--pairs", "7", "--alignments"});
  CHECK(count_lines(pairs.out) == 7);
  CHECK(std::count(pairs.out.begin(), pairs.out.end(), '\t') == 7);
  CHECK(std::count(aligned.out.begin(), aligned.out.end(), '\t') == 14);
  CHECK(aligned.out.find("\t0-0") != std::string::npos);
  CHECK(run_program({"corpus", "--pairs", "7", "--seed", "2"}).out != pairs.out);
  CHECK(run_program({"corpus", "--pairs", "9"}).out.starts_with(pairs.out));
}

TEST_CASE("corpus: sequences of numbers for a task, as the built-in corpus is printed") {
  const std::vector<std::string> sort{"corpus", "--task", "sort", "--pairs", "3", "--length", "2-4", "--seed", "9"};
  std::vector<std::string> aligned = sort;
  aligned.push_back("--alignments");
  // Computed by a second implementation of Philox and of the drawing, in Python.
  CHECK(run_program(sort).out == "44 20\t20 44\n6 34 38 35\t6 34 35 38\n48 22 41\t22 41 48\n");
  CHECK(run_program(aligned).out ==
        "44 20\t20 44\t0-1 1-0\n6 34 38 35\t6 34 35 38\t0-0 1-1 2-3 3-2\n48 22 41\t22 41 48\t0-2 1-0 2-1\n");
  const Outcome whole = run_program({"corpus", "--task", "reverse"});
  CHECK(whole.status == 0);
  CHECK(count_lines(whole.out) == 50000);
}

TEST_CASE("gradcheck: rows and totals, by a part of the name or a pattern") {
  const json part = json::parse(run_program({"gradcheck", "tanh", "--json"}).out);
  CHECK(part["failed"] == 0);
  CHECK(part["passed"] == part["rows"].size());
  for (const json& row : part["rows"]) {
    CHECK(row["name"].get<std::string>().find("tanh") != std::string::npos);
    CHECK(row["passed"] == true);
    CHECK(row["error"].get<double>() < 1e-6);
    CHECK(row["checked"].get<int>() > 0);
  }
  const json whole = json::parse(run_program({"gradcheck", "tan*", "--json"}).out);
  CHECK(whole["rows"].size() <= part["rows"].size());
  CHECK(whole["rows"][0]["name"].get<std::string>().starts_with("tan"));
}

TEST_SUITE_END();
