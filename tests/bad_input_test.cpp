// What a user can get wrong: one line on standard error, status 2 for usage and 1 for failure, and no run is damaged.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/program.h"
#include "tests/tiny_run.h"

using namespace tapestry;

TEST_SUITE_BEGIN("fast");

namespace {

struct BadUsage {
  std::vector<std::string> arguments;
  std::string message;  // a part of it
};

void check_all(const std::vector<BadUsage>& cases, int status) {
  for (const BadUsage& bad : cases) {
    const Outcome outcome = run_program(bad.arguments);
    CAPTURE(bad.message);
    CAPTURE(outcome.error);
    CHECK(outcome.complained(status));
    CHECK(outcome.error.find(bad.message) != std::string::npos);
    CHECK(outcome.out.empty());
  }
}

}  // namespace

TEST_CASE("program: a command line that cannot be meant is a usage error") {
  check_all(
      {
          {{}, "a subcommand is required"},
          {{"learn"}, "learn"},
          {{"lab"}, "lab: must name an experiment, one of classify, compare, "},
          {{"lab", "guess"}, "guess"},
          {{"lab", "compare", "guess"}, "lab compare: must be one of bahdanau, rnn, "},
          {{"lab", "compare", "--seeds", "0"}, "--seeds: must lie in [1, 30]; given 0"},
          {{"lab", "compare", "--updates", "0"}, "--updates: must lie in [1, 1000000]; given 0"},
          {{"lab", "lm", "--data", "absent.txt", "--out", "./absent.txt"},
           "--out: must not be the file of --data; given ./absent.txt"},
          {{"lab", "lm", "--prompt", "\xff"}, "--prompt: tokenize: text must be UTF-8; byte 1 is 0xff"},
          {{"lab", "pooling", "--out", "a.svg", "--weights", "a.svg"}, "--weights: must not be the file of --out"},
          {{"lab", "classify", "--longer", "5-2000"},
           "--longer: must be LOW-HIGH with 1 <= LOW <= HIGH <= 1000; given 5-2000"},
          {{"train"}, "--out is required"},
          {{"translate"}, "DIR is required"},
          {{"evaluate", "x", "--spin"}, "--spin"},
          {{"gradcheck", "no_such_op"}, "gradcheck: no op, layer or model matches no_such_op"},
          {{"translate", "x", "--attention", "picture.png"}, "--attention: must end in .svg (a picture) or .tsv"},
          {{"translate", "x", "--attenton"}, "translate: --attenton is no option"},
          {{"translate", "x", "a", "--attention", ""}, "--attention: must end in .svg (a picture) or .tsv"},
          {{"translate", ""}, "translate: DIR must name a run directory; given an empty name"},
          {{"evaluate", ""}, "evaluate: DIR must name a run directory; given an empty name"},
          {{"compare", "", "."}, "compare: A must name a run directory; given an empty name"},
          {{"compare", ".", ""}, "compare: B must name a run directory; given an empty name"},
          {{"average", ""}, "average: DIR must name a run directory; given an empty name"},
          {{"average", "x", "--out", ""}, "--out: must name a directory; given an empty name"},
          {{"train", "--resume", ""}, "--resume: must name a run directory; given an empty name"},
          {{"evaluate", "x", "--hypotheses", ""}, "--hypotheses: must name a file; given an empty name"},
          {{"evaluate", "x", "--alignments", ""}, "--alignments: must name a file; given an empty name"},
          {{"translate", "x", "--beam", "0"}, "--beam: must lie in [1, 65536]; given 0"},
          {{"translate", "x", "--beam", "two"}, "--beam: must be a whole number; given two"},
          {{"translate", "x", "--n-best", "2"}, "--n-best: must lie in [1, --beam]; given 2"},
          {{"translate", "x", "--beam", "2", "--length-penalty", "-1"},
           "--length-penalty: must be at least 0; given -1"},
          {{"translate", "x", "--length-penalty", "1"}, "--length-penalty: goes with --beam, which is not given"},
          {{"translate", "x", "--sample", "--beam", "2"}, "--sample: draws one translation and goes with no beam"},
          {{"translate", "x", "--top-k", "2"}, "--top-k: goes with --sample, which is not given"},
          {{"translate", "x", "--seed", "2"}, "--seed: goes with --sample, which is not given"},
          {{"translate", "x", "--temperature", "2"}, "--temperature: goes with --sample, which is not given"},
          {{"translate", "x", "--sample", "--temperature", "0"}, "--temperature: must be above 0; given 0"},
          {{"translate", "x", "--sample", "--top-k", "-1"}, "--top-k: must be at least 0; given -1"},
          {{"evaluate", "x", "--length-penalty", "1"}, "--length-penalty: goes with --beam, which is not given"},
          {{"evaluate", "x", "--tokenize", "intl"}, "--tokenize: must be none or 13a; given intl"},
          {{"compare", "x", "y", "--beam", "-1"}, "--beam: must lie in [1, 65536]; given -1"},
          {{"train", "--out", ""}, "--out: must name a directory; given an empty name"},
          {{"corpus", "--pairs", "0"}, "--pairs: must lie in [1, 500000]; given 0"},
          {{"corpus", "--pairs", "-3"}, "--pairs: must lie in [1, 500000]; given -3"},
          {{"corpus", "--seed", "-3"}, "--seed: must be a whole number from 0 on; given -3"},
          {{"corpus", "--json"}, "--json: goes with --difficulty"},
          {{"corpus", "--length", "1-5"}, "--length: goes with --task"},
          {{"corpus", "--task", ""}, "--task: must be one of copy, reverse, sort; given"},
          {{"corpus", "--task", "copy", "--length", "5"}, "--length: must be LOW-HIGH, such as 1-25; given 5"},
          {{"corpus", "--task", "copy", "--length", "5-x"}, "--length: must be a whole number; given x"},
          {{"corpus", "--task", "copy", "--length", "5-4"}, "--length: must be LOW-HIGH with 1 <= LOW <= HIGH"},
          {{"corpus", "--task", "copy", "--difficulty"}, "--difficulty: is of the built-in corpus; --task is given"},
          {{"evaluate", "x", "--by-length", "1-5,"}, "--by-length: must be LOW-HIGH, such as 1-25; given"},
          {{"evaluate", "x", "--by-length", "1--5"}, "--by-length: must be LOW-HIGH, such as 1-25; given 1--5"},
          {{"evaluate", "x", "--by-length", "5-1"}, "--by-length: must be LOW-HIGH with LOW <= HIGH; given 5-1"},
      },
      2);
}

TEST_CASE("program: options of train out of range are usage errors, and nothing is made") {
  const TemporaryDirectory place;
  const std::string out = place.file("run");
  const auto train = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"train", "--out", out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  check_all(
      {
          {train({"--preset", "d2l"}),
           "preset: must be one of quickstart, quickstart-book, quickstart-transformer, d2l-bahdanau, d2l-seq2seq"},
          {train({"--model", "lstm"}),
           "--model: must be one of bahdanau, bahdanau-paper, seq2seq, transformer; given lstm"},
          {train({"--cell", "elman"}), "--cell: must be one of rnn, gru, lstm; given elman"},
          {train({"--schedule", "cosine"}),
           "--schedule: must be one of constant, linear, inverse-sqrt, noam; given cosine"},
          {train({"--tokenizer", "moses"}), "--tokenizer: must be one of book, spaces; given moses"},
          {train({"--model", "transformer", "--tie", "all"}), "--tie: all needs one vocabulary of both sides; give"},
          {train({"--embed", "0"}), "--embed: must be at least 1; given 0"},
          {train({"--hidden", "0"}), "--hidden: must be at least 1; given 0"},
          {train({"--layers", "0"}), "--layers: must be at least 1; given 0"},
          {train({"--layers", "65"}), "must be at most 65536, 65536, 64 and 1024; given"},
          {train({"--batch", "0"}), "--batch: must be at least 1; given 0"},
          {train({"--shards", "0"}), "--shards: must be at least 1; given 0"},
          {train({"--min-count", "0"}), "--min-count: must be at least 1; given 0"},
          {train({"--stop-after", "-1"}), "--stop-after: must be at least 0; given -1"},
          {train({"--tie", "source"}), "--tie: must be one of none, output, all; given source"},
          {train({"--norm", "middle"}), "--norm: must be one of post, pre, none; given middle"},
          {train({"--final-norm", "yes"}), "--final-norm: must be one of auto, on, off; given yes"},
          {train({"--init", "zero"}), "--init: must be one of paper, book; given zero"},
          {train({"--width", "0"}), "--width: must be at least 1; given 0"},
          {train({"--width", "16386"}), ": must be at most 16384 and 65536; given 16386 and 256"},
          {train({"--ffn", "0"}), "--ffn: must be at least 1; given 0"},
          {train({"--ffn", "65537"}), ": must be at most 16384 and 65536; given 128 and 65537"},
          {train({"--heads", "0"}), "--heads: must be at least 1; given 0"},
          {train({"--model", "transformer", "--width", "9", "--heads", "3"}),
           "--width: must be even, for the positions, and a multiple of the heads; given 9 and 3 heads"},
          {train({"--model", "transformer", "--width", "8", "--heads", "3"}),
           "--width: must be even, for the positions, and a multiple of the heads; given 8 and 3 heads"},
          {train({"--score", "angle"}),
           "--score: must be one of additive, dot, scaled-dot, general, cosine, gaussian, network; given angle"},
          {train({"--hidden", "8", "--score", "dot"}),
           "--score: dot needs queries and keys of one width, which additive, general and network do not; given 8 and "
           "16"},
          {train({"--normaliser", "max"}), "--normaliser: must be one of softmax, relu; given max"},
          {train({"--model", "bahdanau", "--score", "gaussian", "--normaliser", "relu"}),
           "--normaliser: must be softmax for the gaussian, whose scores are never above 0; given relu"},
          {train({"--model", "transformer", "--score", "dot"}),
           "--score and --normaliser: must be left out for the transformer, which decodes from a cache by scaled-dot "
           "with softmax alone; given dot and softmax"},
          {train({"--attention-dropout", "1.5"}), "--attention-dropout: must lie in [0, 1]; given 1.5"},
          {train({"--ffn-dropout", "-0.5"}), "--ffn-dropout: must lie in [0, 1]; given -0.5"},
          {train({"--subwords", "-1"}), "--subwords: must be at least 0; given -1"},
          {train({"--subwords", "2000000"}), "--subwords: must be at most 1048576; given 2000000"},
          {train({"--epochs", "abc"}), "--epochs: must be a whole number; given abc"},
          {train({"--epochs", "3x"}), "--epochs: must be a whole number; given 3x"},
          {train({"--epochs", "1.5"}), "--epochs: must be a whole number; given 1.5"},
          {train({"--epochs", "0"}), "--epochs: must be at least 1; given 0"},
          {train({"--epochs", "-5"}), "--epochs: must be at least 1; given -5"},
          {train({"--epochs", "2000000000"}), "--epochs: must be at most 1000000000; given 2000000000"},
          {train({"--updates", "-1"}), "--updates: must be at least 0; given -1"},
          {train({"--batch-tokens", "-1"}), "--batch-tokens: must be at least 0; given -1"},
          {train({"--batch-tokens", "5"}),
           "--batch-tokens: must hold the longest sentence, 18 tokens with <eos>; given 5"},
          {train({"--accumulate", "0"}), "--accumulate: must be at least 1; given 0"},
          {train({"--warmup", "0"}), "--warmup: must be at least 1; given 0"},
          {train({"--initial-lr", "1"}), "--initial-lr: must lie in [0, 0.005], the peak rate; given 1"},
          {train({"--lr-factor", "0"}), "--lr-factor: must be above 0; given 0"},
          {train({"--beta1", "1"}), "--beta1: must lie in [0, 1); given 1"},
          {train({"--beta2", "-0.1"}), "--beta2: must lie in [0, 1); given -0.1"},
          {train({"--epsilon", "0"}), "--epsilon: must be above 0; given 0"},
          {train({"--weight-decay", "-1"}), "--weight-decay: must lie in [0, 1e+30]; given -1"},
          {train({"--label-smoothing", "1"}), "--label-smoothing: must lie in [0, 1); given 1"},
          {train({"--validate-every", "-1"}), "--validate-every: must be at least 0; given -1"},
          {train({"--valid-bleu", "-1"}), "--valid-bleu: must be at least 0; given -1"},
          {train({"--patience", "-1"}), "--patience: must be at least 0; given -1"},
          {train({"--patience", "3", "--valid", "0"}), "--patience: needs a validation part; give --valid"},
          {train({"--keep", "-1"}), "--keep: must be at least 0; given -1"},
          {train({"--checkpoint-every", "-1"}), "--checkpoint-every: must be at least 0; given -1"},
          {train({"--hidden", "99999999999999999999"}), "--hidden: must be a whole number of at most 64 bits"},
          {train({"--hidden", "100000"}), "65536"},
          {train({"--length", "1"}), "--length: must leave room for a word and <eos>"},
          {train({"--lr", "nan"}), "--lr: must be a finite number; given nan"},
          {train({"--lr", "inf"}), "--lr: must be a finite number; given inf"},
          {train({"--lr", "1e999"}), "--lr: must be a finite number"},
          {train({"--lr", "0"}), "--lr: must be above 0; given 0"},
          {train({"--lr", ""}), "--lr: must be a finite number"},
          {train({"--dropout", "1.5"}), "--dropout: must lie in [0, 1]; given 1.5"},
          {train({"--clip", "-1"}), "--clip: must lie in [0"},
          {train({"--seed", "-1"}), "--seed: must be a whole number from 0 on; given -1"},
          {train({"--threads", "0"}), "--threads: must lie in [1, 1024]; given 0"},
          {train({"--valid", "-5"}), "--valid: must be at least 0; given -5"},
          {train({"--pairs", "600000"}), "--pairs: must be at most 500000 for the built-in corpus; given 600000"},
          {train({"--valid", "a.tsv"}), "--valid and --test: must be numbers for the built-in corpus"},
          {train({"--valid", "1", "--valid", "-6"}), "--valid: must be at least 0; given -6"},
          {train({"--valid", "-5", "--test", "1", "--test", "-6", "--valid", "6"}),
           "--test: must be at least 0; given -6"},
          {train({"--valid", ""}), "--valid: must not be empty"},
          {train({"--valid", "5", "--valid", ""}), "--valid: must not be empty"},
          {train({"--test", "a.tsv", ""}), "--test: must not be empty"},
          {train({"--data", ""}), "--data: must not be empty"},
          {train({"--data", "/x\xff.tsv"}), "--data: must have a full path in UTF-8, which the run keeps; byte 3 of "},
          {train({"--source", "a", "--target", "/\xe9"}), "--target: must have a full path in UTF-8"},
          {train({"--data", "a", "--valid", "/\xe9"}), "--valid: must have a full path in UTF-8"},
          {train({"--data", "a", "--test", "/a", "/\xe9"}), "--test: must have a full path in UTF-8"},
          {train({"--source", "a.en"}), "--source and --target: must be given together"},
          {train({"--data", "a.tsv", "--source", "a.en", "--target", "a.fr"}), "--data: cannot be given with --source"},
      },
      2);
  CHECK_FALSE(std::filesystem::exists(out));
}

TEST_CASE("program: text that cannot be read names file and line, and no run is touched") {
  const TemporaryDirectory texts;
  const std::string good = texts.write("good.tsv", "go .\tva !\nrun .\tcours !\nstop .\tarrête !\n");
  const std::string english = texts.write("a.en", "one\ntwo\nthree\n"), french = texts.write("a.fr", "un\ndeux\n");
  const TinyRun run;
  const auto before = directory_bytes(run.path());
  const auto train = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"train", "--force", "--out", run.path()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  check_all(
      {
          {train({"--data", texts.file("none.tsv")}), "none.tsv: "},
          {train({"--data", texts.path()}), "Is a directory"},
          {train({"--data", texts.write("empty.tsv", "")}), "empty.tsv: file must hold text; it is empty"},
          {train({"--data", texts.write("latin.tsv", "a\tb\nd\xe9j\xe0\tvu\n")}),
           "latin.tsv:2: text must be UTF-8; byte 2 of the line is 0xe9"},
          {train({"--data", texts.write("tab.tsv", "a\tb\nc d\n")}), "tab.tsv:2: line must be source, tab, target"},
          {train({"--data", texts.write("blank.tsv", "\t\n \tx\n")}), "a line must have words on both sides"},
          {train({"--source", english, "--target", french}), "has 3, " + french + " has 2"},
          {train({"--data", good, "--test", "3"}), "split: valid and test must leave a source sentence for training"},
          {train({"--data", good, "--valid", texts.file("none.tsv")}), "none.tsv: "},
          {{"evaluate", run.path(), "--data", texts.file("none.tsv")}, "none.tsv: "},
      },
      1);
  check_all({{train({"--data", good, "--valid", english, french}), "--valid: must be a number, or one file"},
             {{"train", "--out", run.path()}, "holds a run; give another directory, or --force to replace it"}},
            2);
  CHECK(directory_bytes(run.path()) == before);
}

TEST_CASE("program: a directory that holds other files is not made a run") {
  const TemporaryDirectory place;
  place.write("letter.txt", "dear");
  check_all({{{"train", "--out", place.path(), "--force"}, "must be empty or hold a run; it holds other files"}}, 2);
  CHECK(directory_bytes(place.path()).size() == 1);
}

TEST_CASE("program: a checkpoint that is cut short or foreign is told by its file") {
  const TinyRun run;
  const std::string model = run.file("model.safetensors"), whole = file_bytes(model);
  const auto check_broken = [&](const std::string& name, const std::string& bytes, const std::string& message) {
    const std::string kept = file_bytes(run.file(name));
    run.place.write(name, bytes);
    for (const char* command : {"translate", "evaluate"})
      check_all({{{command, run.path()}, run.file(name)}, {{command, run.path()}, message}}, 1);
    run.place.write(name, kept);
  };
  check_broken("model.safetensors", whole.substr(0, whole.size() / 2), "model.safetensors: ");
  check_broken("model.safetensors", whole.substr(0, 5), "model.safetensors: ");
  check_broken("model.safetensors", "", "model.safetensors: ");
  check_broken("model.safetensors", std::string(300, '\xff'), "model.safetensors: ");
  check_broken("model.safetensors", file_bytes(TinyRun("seq2seq").file("model.safetensors")), "missing [");
  check_broken("config.json", "{", "must be the configuration of a run");
  check_broken("config.json", "{}", "must be the configuration of a run");
  check_broken("config.json", "[1]", "must be the configuration of a run");
  check_broken("source.vocab", "<unk>\n<pad>\n", "source.vocab:3: ");
  check_all({{{"translate", run.file("nowhere")}, "config.json: must be readable; No such file or directory"}}, 1);
}

TEST_CASE("program: a full disk is told, wherever the output goes") {
  const TinyRun run;
  const std::string translate = "translate '" + run.path() + "' a";
  for (const std::string& command : {std::string("corpus"), std::string("corpus --pairs 3"), std::string("--help"),
                                     std::string("gradcheck tanh"), translate}) {
    const Outcome outcome = run_shell("exec \"$tapestry\" " + command + " > /dev/full");
    CAPTURE(command);
    CAPTURE(outcome.error);
    CHECK(outcome.status == 1);
    CHECK(outcome.error == "tapestry: standard output: must be writable; No space left on device\n");
  }
  std::filesystem::create_symlink("/dev/full", run.file("full.svg"));
  const Outcome picture = run_program({"translate", run.path(), "--attention", run.file("full.svg"), "the cat ."});
  CHECK(picture.complained(1));
  CHECK(picture.error.find("full.svg: must be writable; No space left on device") != std::string::npos);
}

TEST_CASE("program: a file that cannot be written is told before the work") {
  const TemporaryDirectory place;
  std::filesystem::create_directory(place.file("d.svg"));
  check_all({{{"evaluate", "no-run", "--hypotheses", place.file("nowhere/out.txt")},
              "nowhere/out.txt must be in a folder that can be written to"},
             {{"evaluate", "no-run", "--hypotheses", place.path()}, " must be a file; it is a directory"},
             {{"translate", "no-run", "--attention", place.file("d.svg")}, "d.svg must be a file; it is a directory"}},
            1);
}

TEST_CASE("program: a working directory that is gone is told in one line") {
  const TemporaryDirectory place;
  const Outcome outcome =
      run_shell("cd '" + place.path() + "' && rmdir \"$PWD\" && exec \"$tapestry\" train --data a.tsv --out b");
  CHECK(outcome.status == 1);
  CHECK(outcome.error == "tapestry: a.tsv: must be accessible; No such file or directory\n");
}

TEST_CASE("program: a reader that leaves ends the program quietly") {
  const Outcome outcome = run_shell("\"$tapestry\" corpus | head -n 1");
  CHECK(outcome.status == 0);
  CHECK(count_lines(outcome.out) == 1);
  CHECK(outcome.error.empty());
}

TEST_CASE("average: a path that its summary could not hold is refused before anything is made") {
  const TemporaryDirectory place;
  std::filesystem::create_directory(place.file("n\xff"));
  check_all({{{"average", place.file("n\xff")}, "average: DIR must have a full path in UTF-8"}}, 2);
}

TEST_SUITE_END();
