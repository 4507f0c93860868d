// Short trainings by the program.

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/program.h"

using namespace tapestry;
using nlohmann::json;

namespace {

std::vector<std::string> tiny(const std::string& out, std::vector<std::string> more = {}, const char* epochs = "1") {
  std::vector<std::string> arguments{"train", "--out",    out,    "--pairs", "200", "--valid",
                                     "20",    "--test",   "20",   "--embed", "8",   "--hidden",
                                     "8",     "--epochs", epochs, "--batch", "32"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

}  // namespace

TEST_SUITE_BEGIN("train");

TEST_CASE("train: the same seed and shards give the same bytes, whatever the threads") {
  const TemporaryDirectory place;
  for (const std::string model : {"bahdanau", "bahdanau-paper", "seq2seq", "transformer"}) {
    CAPTURE(model);
    std::vector<std::string> options{"--model", model, "--shards", "3", "--dropout", "0.2"};
    if (model == "transformer")
      for (const char* more : {"--width", "8", "--ffn", "16", "--heads", "2", "--tie", "all", "--joint-vocabulary",
                               "--attention-dropout", "0.1", "--ffn-dropout", "0.1"})
        options.push_back(more);
    const auto train = [&](const std::string& run, const char* option, const char* value) {
      std::vector<std::string> arguments = tiny(run, options);
      arguments.insert(arguments.end(), {option, value});
      return run_program(arguments);
    };
    std::string first;
    for (const char* threads : {"1", "2", "3"}) {
      const std::string run = place.file(model + threads);
      const Outcome outcome = train(run, "--threads", threads);
      CAPTURE(outcome.error);
      REQUIRE(outcome.status == 0);
      const std::string bytes = file_bytes(run + "/model.safetensors");
      CHECK(bytes.size() > 1000);
      if (first.empty()) first = bytes;
      CHECK(bytes == first);
    }
    const std::string other = place.file(model + "-seed");
    REQUIRE(train(other, "--seed", "2").status == 0);
    CHECK(file_bytes(other + "/model.safetensors") != first);
  }
}

TEST_CASE("train: every kind of positions is trained, kept in the run and translated with") {
  const TemporaryDirectory place;
  const std::vector<std::string> small{"--model", "transformer", "--width", "8", "--ffn", "16", "--heads", "2"};
  const auto with = [&](const std::string& run, std::vector<std::string> more) {
    more.insert(more.begin(), small.begin(), small.end());
    return run_program(tiny(place.file(run), more));
  };
  for (const std::string kind : {"sinusoidal", "learned", "none", "integers"}) {
    CAPTURE(kind);
    const Outcome trained = with(kind, {"--positions", kind});
    REQUIRE(trained.status == 0);
    CHECK(trained.out.find(kind == "none" ? ", no positions, " : ", " + kind + " positions, ") != std::string::npos);
    CHECK(json::parse(file_bytes(place.file(kind) + "/config.json"))["positions"] == kind);
    CHECK(run_program({"translate", place.file(kind), "we bought a red car yesterday ."}).status == 0);
  }
  const std::string words = "the old man does not see the young woman and she does not see the car or the house .";
  REQUIRE(with("short", {"--positions", "learned", "--max-positions", "18"}).status == 0);
  CHECK(run_program({"translate", place.file("short"), words}).error ==
        "tapestry: positions: there must be a row of the learned table for each; given 18 rows and 21 positions\n");
  // --length cuts sentences of training alone.
  for (const char* length : {"0", "9"}) {
    const Outcome too_short = with("too short", {"--positions", "learned", "--max-positions", "9", "--length", length});
    CHECK(too_short.complained(2));
    CHECK(too_short.error.starts_with("tapestry: --max-positions: must hold the longest sentence, "));
    CHECK(too_short.error.ends_with(" tokens with <eos>; given 9\n"));
  }
  CHECK(with("unheeded", {"--max-positions", "40"})
            .out.find("warning: --max-positions has no effect: the positions are sinusoidal\n") != std::string::npos);
  CHECK(run_program(tiny(place.file("recurrent"), {"--positions", "none"}))
            .out.find("warning: --positions has no effect: the model is bahdanau") != std::string::npos);
}

TEST_CASE("train: says what it trains, a line an epoch, and leaves a run") {
  const TemporaryDirectory place;
  const std::string run = place.file("deep/run");
  const Outcome outcome = run_program(tiny(run, {"--threads", "1"}, "2"));
  REQUIRE(outcome.status == 0);
  CHECK(outcome.error.empty());
  for (const char* text : {"200 for training, 20 for validation, 20 for the test", "parameters", "epoch 1/2  loss ",
                           "epoch 2/2  loss ", "validation ", "  length ", "  distinct ", "tokens/s"})
    CHECK(outcome.out.find(text) != std::string::npos);
  CHECK(outcome.out.find('\r') == std::string::npos);
  const std::string signature = "nrefs:1|case:mixed|eff:no|tok:none|smooth:exp|version:tapestry-" TAPESTRY_VERSION;
  CHECK(outcome.out.find("BLEU    greedy; " + signature + "\n") != std::string::npos);

  const json summary = json::parse(file_bytes(run + "/summary.json"));
  for (const char* key : {"train_loss", "valid_loss", "valid_bleu", "updates", "parameters", "seconds",
                          "tokens_per_second", "peak_bytes", "seed", "shards", "threads", "version"})
    CHECK(summary.contains(key));
  CHECK(summary["updates"] == 14);
  CHECK(summary["threads"] == 1);
  CHECK(summary["bleu_signature"] == signature);
  std::istringstream metrics(file_bytes(run + "/metrics.jsonl"));
  for (std::string line; std::getline(metrics, line);) CHECK(json::parse(line)["bleu_signature"] == signature);
  CHECK(count_lines(file_bytes(run + "/metrics.jsonl")) == 2);
  CHECK(run_program({"evaluate", run}).out.find("20 sentences") != std::string::npos);

  const auto before = directory_bytes(run);
  CHECK(run_program(tiny(run)).complained(2));
  CHECK(directory_bytes(run) == before);
  CHECK(run_program(tiny(run, {"--force", "--seed", "5"})).status == 0);
  CHECK(json::parse(file_bytes(run + "/summary.json"))["seed"] == 5);
}

TEST_CASE("train: text of the user's own, parts in files, and nothing held out unless asked") {
  const TemporaryDirectory place;
  REQUIRE(run_shell("\"$tapestry\" corpus --pairs 60 > " + place.file("pairs.tsv") + " && cut -f 1 " +
                    place.file("pairs.tsv") + " > " + place.file("a.en") + " && cut -f 2 " + place.file("pairs.tsv") +
                    " > " + place.file("a.fr"))
              .status == 0);
  const auto train = [&](const std::string& name, std::vector<std::string> more) {
    std::vector<std::string> arguments{"train",    "--out", place.file(name), "--embed", "4", "--hidden", "4",
                                       "--epochs", "1",     "--min-count",    "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run_program(arguments);
    CAPTURE(outcome.error);
    REQUIRE(outcome.status == 0);
    return outcome.out;
  };
  CHECK(train("all", {"--data", place.file("pairs.tsv")}).find("60 for training, 0 for validation, 0 for the test") !=
        std::string::npos);
  for (const char* key : {"valid_loss", "valid_bleu", "bleu_signature"})
    CHECK(json::parse(file_bytes(place.file("all/summary.json")))[key].is_null());
  CHECK(train("drawn", {"--data", place.file("pairs.tsv"), "--valid", "5", "--test", "7", "--reverse"})
            .find("48 for training, 5 for validation, 7 for the test") != std::string::npos);
  CHECK(train("files", {"--source", place.file("a.en"), "--target", place.file("a.fr"), "--valid", place.file("a.en"),
                        place.file("a.fr"), "--pairs", "10"})
            .find("10 for training, 60 for validation, 0 for the test") != std::string::npos);
  // The same seed and text give the same words on either path.
  CHECK(run_program({"evaluate", place.file("drawn")}).out.find("7 sentences") != std::string::npos);
}

TEST_CASE("train: text that is tokenised already, with one vocabulary of both sides") {
  const TemporaryDirectory place;
  std::string pairs;
  for (int i = 0; i < 20; ++i)
    pairs += "A pul@@ ley , 3.5 " + std::to_string(i) + "\tEin Fla@@ schen@@ zug , 3.5 " + std::to_string(i) + "\n";
  const std::string text = place.write("bpe.tsv", pairs), run = place.file("run");
  const std::vector<std::string> arguments{"train",    "--data", text,       "--embed", "8",
                                           "--hidden", "8",      "--epochs", "1",       "--joint-vocabulary",
                                           "--test",   "4",      "--out",    run};
  const Outcome trained = run_program(arguments);
  CAPTURE(trained.error);
  REQUIRE(trained.status == 0);
  CHECK(trained.out.find(text + ", tokenised already: split at spaces only\n") != std::string::npos);
  // A, pul@@, ley, ",", 3.5, Ein, Fla@@, schen@@, zug, 16 numbers (once on each side, so twice) and 4 control tokens.
  CHECK(trained.out.find("words   29 in one vocabulary of both sides\n") != std::string::npos);
  CHECK(json::parse(file_bytes(run + "/config.json"))["tokenizer"] == "spaces");
  CHECK(file_bytes(run + "/source.vocab") == file_bytes(run + "/target.vocab"));
  CHECK(file_bytes(run + "/source.vocab").find("\nFla@@\n") != std::string::npos);
  const Outcome translated = run_program({"translate", run, "A pul@@ ley"});
  CHECK(translated.status == 0);
  CHECK(translated.out.find("@@") == std::string::npos);
  CHECK(run_program({"evaluate", run}).out.find("tok:none") != std::string::npos);

  // Only the option decides where it is given.
  std::vector<std::string> book = arguments;
  for (const char* more : {"--force", "--tokenizer", "book"}) book.push_back(more);
  CHECK(run_program(book).out.find(text + ", split into words\n") != std::string::npos);
  book.back() = "spaces";
  for (const char* more : {"--subwords", "30"}) book.push_back(more);
  CHECK(run_program(book).error ==
        "tapestry: --subwords: must be learnt from plain text; it is tokenised already (tokenizer spaces)\n");
}

TEST_CASE("train: subwords are learnt from the text, stored in the run, and plain text goes in and comes out") {
  const TemporaryDirectory place;
  const std::string run = place.file("run");
  const Outcome trained = run_program(tiny(run, {"--subwords", "150", "--threads", "1"}));
  CAPTURE(trained.error);
  if (trained.status == 2 && trained.error.find("must be built with SentencePiece") != std::string::npos) return;
  REQUIRE(trained.status == 0);
  CHECK(trained.error.empty());
  CHECK(trained.out.find(", cut into 150 pieces learnt from it\n") != std::string::npos);
  CHECK(trained.out.find("words   154 in one vocabulary of both sides\n") != std::string::npos);
  CHECK(file_bytes(run + "/source.vocab") == file_bytes(run + "/target.vocab"));
  CHECK(count_lines(file_bytes(run + "/source.vocab")) == 154);
  const Outcome translated = run_program({"translate", run}, "The cat sees a Dog.\n\n");
  CHECK(translated.status == 0);
  CHECK(count_lines(translated.out) == 2);
  CHECK(translated.out.ends_with("\n\n"));
  CHECK(translated.out.find("\u2581") == std::string::npos);
  const json figures = json::parse(run_program({"evaluate", run, "--json"}).out);
  CHECK(figures["sentences"] == 20);
  CHECK(figures["bleu_signature"].get<std::string>().find("tok:13a") != std::string::npos);
  place.write("gold.txt", "0-0\n");
  CHECK(run_program({"evaluate", run, "--alignments", place.file("gold.txt")}).error ==
        "tapestry: --alignments: links are between words; " + run + " translates pieces of them (--subwords)\n");
  // The same text and seed give the same pieces and the same model.
  const std::string again = place.file("again");
  REQUIRE(run_program(tiny(again, {"--subwords", "150", "--threads", "2"})).status == 0);
  for (const char* file : {"/subwords.model", "/source.vocab", "/model.safetensors"})
    CHECK(file_bytes(again + file) == file_bytes(run + file));
  CHECK(run_program({"compare", run, again, "--samples", "20"}).status == 0);

  const std::string model = file_bytes(run + "/subwords.model");
  const auto check_broken = [&](const std::string& bytes) {
    place.write("run/subwords.model", bytes);
    const Outcome outcome = run_program({"translate", run, "a"});
    CHECK(outcome.complained(1));
    CHECK(outcome.error.find(run + "/subwords.model: ") != std::string::npos);
  };
  check_broken("");
  check_broken("garbage");
  check_broken(model.substr(0, model.size() / 2));
  std::filesystem::remove(run + "/subwords.model");
  CHECK(run_program({"translate", run, "a"}).error ==
        "tapestry: " + run + "/subwords.model: must be readable; No such file or directory\n");
  place.write("run/subwords.model", model);
  // It is one of the run's files: a run without subwords that replaces it leaves none.
  REQUIRE(run_program(tiny(again, {"--force"})).status == 0);
  CHECK_FALSE(std::filesystem::exists(again + "/subwords.model"));
  const Outcome unlike = run_program({"compare", again, run});
  CHECK(unlike.complained(1));
  CHECK(unlike.error.find("compare: both runs must be scored alike; BLEU is nrefs:1|case:mixed|eff:no|tok:none") !=
        std::string::npos);

  const Outcome many = run_program(tiny(place.file("many"), {"--subwords", "100000"}));
  CHECK(many.complained(2));
  CHECK(many.error.find("for this training text; given 100000") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(place.file("many")));
}

TEST_CASE("train: a task on sequences, and attention against its gold links") {
  const TemporaryDirectory place;
  const std::string corpus = "\"$tapestry\" corpus --task reverse --length 1-3 --alignments";
  REQUIRE(run_shell(corpus + " --pairs 400 > " + place.file("train.tsv") + " && " + corpus + " --pairs 40 --seed 2 > " +
                    place.file("test.tsv") + " && cut -f 3 " + place.file("test.tsv") + " > " + place.file("gold"))
              .status == 0);
  const Outcome trained = run_program({"train", "--data", place.file("train.tsv"), "--embed", "8", "--hidden", "8",
                                       "--epochs", "1", "--out", place.file("run")});
  CAPTURE(trained.error);
  REQUIRE(trained.status == 0);
  CHECK(trained.out.find("words   54 of the source, 54 of the target") != std::string::npos);
  const Outcome scored = run_program({"evaluate", place.file("run"), "--test", place.file("test.tsv"), "--alignments",
                                      place.file("gold"), "--by-length", "1-2,3-3", "--json"});
  CAPTURE(scored.error);
  REQUIRE(scored.status == 0);
  const json figures = json::parse(scored.out);
  CHECK(figures["by_length"][0]["sentences"].get<int>() + figures["by_length"][1]["sentences"].get<int>() == 40);
  // The diagonal is wrong but in the middle of 1 or 3 words.
  CHECK(figures["diagonal_alignment_error_rate"].get<double>() > 0.4);
  CHECK(figures.contains("alignment_error_rate"));
}

// A limit on the size of files stands for the full disk: 8 blocks hold the configuration, but no model.
Outcome run_on_full_disk(const std::vector<std::string>& arguments) {
  return run_shell("trap '' XFSZ\nulimit -f 8\nexec " + shell_command(arguments));
}

TEST_CASE("train: a disk that fills while saving is told, and the run that was to be replaced stays whole") {
  const TemporaryDirectory place;
  const std::string run = place.file("run"), second = place.file("second");
  REQUIRE(run_program(tiny(run)).status == 0);
  place.write("run/attention.svg", "a picture");
  const auto before = directory_bytes(place.path());
  for (const Outcome& outcome :
       {run_on_full_disk(tiny(run, {"--force", "--seed", "7"})), run_on_full_disk(tiny(second))}) {
    CAPTURE(outcome.error);
    CHECK(outcome.complained(1));
    CHECK(outcome.error.find("must be writable; File too large") != std::string::npos);
  }
  CHECK_FALSE(std::filesystem::exists(second + "/model.safetensors"));
  CHECK(run_program({"translate", second, "a"}).complained(1));
  std::filesystem::remove_all(second);
  CHECK(directory_bytes(place.path()) == before);

  REQUIRE(run_program(tiny(run, {"--force", "--seed", "7"})).status == 0);
  CHECK(json::parse(file_bytes(run + "/config.json"))["seed"] == 7);
  CHECK(file_bytes(run + "/attention.svg") == "a picture");
  CHECK_FALSE(std::filesystem::exists(run + ".new"));
}

TEST_CASE("train: a kill leaves the old run, and what it left behind does not stand in the way") {
  const TemporaryDirectory place;
  const std::string run = place.file("run");
  REQUIRE(run_program(tiny(run)).status == 0);
  const auto before = directory_bytes(run);
  // Far more epochs than fit: killed while it trains.
  const auto endless = tiny(run, {"--force"}, "100000");
  const std::string start = start_until_written(endless, run + ".new/model.safetensors");
  CHECK(run_shell(start + kill_started).status == 0);
  CHECK(directory_bytes(run) == before);
  // While one trains, another is refused. What the killed one left would say too early that it trains.
  std::filesystem::remove_all(run + ".new");
  const Outcome second =
      run_shell(start + "timeout 60 " + shell_command(endless) + "; status=$?\n" + kill_started + "exit $status\n");
  CHECK(second.status == 1);
  CHECK(second.error.find("only one training may write to a directory; another one does") != std::string::npos);
  CHECK(directory_bytes(run) == before);
  CHECK(run_program(tiny(run, {"--force"})).status == 0);
  CHECK_FALSE(std::filesystem::exists(run + ".new"));
}

TEST_CASE("train: what a killed first training left is replaced with --force only, other files never") {
  const TemporaryDirectory place;
  const std::string run = place.file("run");
  std::filesystem::create_directory(run);
  place.write("run/source.vocab", "");
  place.write("run/model.safetensors.123.partial", "half");
  const Outcome refused = run_program(tiny(run));
  CHECK(refused.complained(2));
  CHECK(refused.error.find("holds the rest of an unfinished run") != std::string::npos);
  CHECK(run_program(tiny(run, {"--force"})).status == 0);
  CHECK_FALSE(std::filesystem::exists(run + "/model.safetensors.123.partial"));

  std::filesystem::create_directory(place.file("other"));
  place.write("other/config.json", "{\"mine\": 1}");
  CHECK(run_program(tiny(place.file("other"), {"--force"})).complained(2));
  CHECK(file_bytes(place.file("other/config.json")) == "{\"mine\": 1}");
}

TEST_CASE("train: parameters that leave the finite numbers are no model") {
  const TemporaryDirectory place;
  const auto refused = [&](const std::vector<std::string>& more, const std::string& message) {
    const Outcome outcome = run_program(tiny(place.file("run"), more));
    CAPTURE(outcome.error);
    CHECK(outcome.complained(1));
    CHECK(outcome.error.find(message) != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(place.file("run/model.safetensors")));
    CHECK_FALSE(std::filesystem::exists(place.file("run/checkpoints")));
    std::filesystem::remove_all(place.file("run"));
  };
  refused({"--lr", "1e308"}, "training: loss and gradient must stay finite; update 2 has loss ");
  const std::string broken = "training: after update 1, parameter encoder.";
  for (const char* option : {"--validate-every", "--checkpoint-every", "--stop-after", "--updates"})
    refused({"--lr", "1e308", option, "1"}, broken);
  // Parameters so large that only what is computed by them overflows.
  refused({"--lr", "1e37", "--validate-every", "1"},
          "training: the validation loss must stay finite; after update 1 it is ");
}

TEST_CASE("evaluate: the run finds its text from anywhere, and a very long sentence ends") {
  const TemporaryDirectory place;
  const std::string pairs = place.write("pairs.tsv", "go .\tva !\nrun .\tcours !\nstop .\tarrête !\n");
  const std::string sizes = " --embed 4 --hidden 4 --epochs 1 --test 1 --min-count 1 --out run";
  REQUIRE(run_shell("cd " + place.path() + " && \"$tapestry\" train --data pairs.tsv" + sizes).status == 0);
  CHECK(run_shell("cd / && \"$tapestry\" evaluate " + place.file("run")).status == 0);
  std::string words;
  for (int i = 0; i < 200000; ++i) words += "a ";
  const std::string lengthy = place.write("long.tsv", words + "\tb b b\n");
  CHECK(run_program({"evaluate", place.file("run"), "--data", lengthy}).status == 0);
}

TEST_CASE("corpus: the figures of its difficulty") {
  const Outcome outcome = run_program({"corpus", "--difficulty", "--json"});
  REQUIRE(outcome.status == 0);
  const json figures = json::parse(outcome.out);
  CHECK(figures["source_forms"].get<int>() >= 400);
  CHECK(figures["target_forms"].get<int>() >= 400);
  CHECK(figures["source_mean_length"].get<double>() >= 8);
  CHECK(figures["target_mean_length"].get<double>() >= 8);
  CHECK(figures["unseen_share"].get<double>() >= 0.2);
  CHECK(figures["word_by_word_bleu"].get<double>() <= 45);
  CHECK(figures["effective_sentences"].get<double>() >= 2e5);
  CHECK(figures["diagonal_alignment_error_rate"].get<double>() > 0);
  CHECK(count_lines(run_program({"corpus", "--difficulty"}).out) == 8);
}

TEST_SUITE_END();

TEST_CASE("train: options without effect, pairs left out, a warm-up that does not end and lost patience are told") {
  const TemporaryDirectory place;
  place.write("text.tsv", "a b .\tc d .\n\tc .\na .\tc .\nb b .\td .\n");
  const Outcome outcome = run_program({"train",
                                       "--data",
                                       place.file("text.tsv"),
                                       "--min-count",
                                       "1",
                                       "--embed",
                                       "4",
                                       "--hidden",
                                       "4",
                                       "--heads",
                                       "2",
                                       "--bidirectional",
                                       "--epochs",
                                       "2",
                                       "--schedule",
                                       "noam",
                                       "--lr",
                                       "0.1",
                                       "--initial-lr",
                                       "0.1",
                                       "--batch-tokens",
                                       "50",
                                       "--batch",
                                       "3",
                                       "--layers",
                                       "1",
                                       "--threads",
                                       "1",
                                       "--out",
                                       place.file("run")});
  REQUIRE(outcome.status == 0);
  for (const char* told : {
           "warning: --heads has no effect: the model is bahdanau-paper\n",
           "warning: --bidirectional has no effect: the model is bahdanau-paper\n",
           "warning: --lr has no effect: the schedule is noam\n",
           "warning: --initial-lr has no effect: the schedule is noam\n",
           "warning: --batch has no effect: batches are cut by --batch-tokens\n",
           "warning: the warm-up takes 4000 updates, the training has 2\n",
           "pairs   3 for training, 0 for validation, 0 for the test; 1 with an empty side left out\n",
           " % padding; seed",
       }) {
    CAPTURE(told);
    CHECK(outcome.out.find(told) != std::string::npos);
  }
  CHECK(outcome.out.find("warning: --hidden") == std::string::npos);
  const Outcome fixed =
      run_program(tiny(place.file("fixed"), {"--model", "seq2seq", "--score", "dot", "--normaliser", "relu"}));
  for (const char* option : {"--score", "--normaliser"})
    CHECK(fixed.out.find("warning: " + std::string(option) + " has no effect: the model is seq2seq\n") !=
          std::string::npos);
  const Outcome transformer = run_program(
      tiny(place.file("transformer"), {"--model", "transformer", "--width", "8", "--cell", "lstm", "--bidirectional"}));
  for (const char* option : {"--hidden", "--cell", "--bidirectional"})
    CHECK(transformer.out.find(std::string("warning: ") + option + " has no effect: the model is transformer\n") !=
          std::string::npos);
  const Outcome patient =
      run_program(tiny(place.file("patient"), {"--lr", "1e-12", "--schedule", "constant", "--patience", "1"}, "50"));
  CHECK(patient.out.find(" updates, for the validation loss did not fall any more, in ") != std::string::npos);
}
