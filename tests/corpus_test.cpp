#include "models/corpus.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "core/error.h"
#include "core/splitmix.h"
#include "models/bleu_tokenizers.h"
#include "models/run_data.h"
#include "models/utf8.h"
#include "models/vocabulary.h"
#include "tests/shared.h"
#include "tests/temporary_directory.h"

using namespace tapestry;

namespace {

std::string text(const Corpus& corpus) {
  std::string all;
  for (const SentencePair& pair : corpus.pairs) all += detokenize(pair.source) + "|" + detokenize(pair.target) + "\n";
  return all;
}

/// `distinct` source sentences, the i-th with 1 + i mod 3 translations.
Corpus numbered_corpus(std::size_t distinct) {
  Corpus corpus;
  for (std::size_t round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < distinct; ++i) {
      if (round <= i % 3) corpus.pairs.push_back({{"s", std::to_string(i)}, {"t", std::to_string(round)}});
    }
  }
  return corpus;
}

std::set<Tokens> distinct_sources(const Corpus& corpus) {
  const std::vector<Tokens> all = sources(corpus);
  return {all.begin(), all.end()};
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("tab-separated pairs: two columns or more, mark, CRLF, blank lines") {
    const TemporaryDirectory directory;
    const std::string path = directory.write("pairs.tsv",
                                             "\xEF\xBB\xBFGo.\tVa\u202F!\r\n"
                                             "Hi.\tSalut.\tCC-BY 2.0 (France)\tmore\r\n"
                                             "\r\n"
                                             " \r\n"
                                             "Nothing.\t \r\n"
                                             "\tRien.\r\n"
                                             "Wait!\tAttends\u00A0!");
    const Corpus corpus = read_pairs(path);
    CHECK(text(corpus) == "go .|va !\nhi .|salut .\nwait !|attends !\n");
    CHECK(corpus.dropped == 2);
    CHECK(text(read_pairs(path, {.pairs = 2})) == "go .|va !\nhi .|salut .\n");
    CHECK(text(read_pairs(path, {.pairs = 100})) == text(corpus));
    CHECK(text(read_pairs(path, {.pairs = 1, .reverse = true})) == "va !|go .\n");
    CHECK(sources(corpus) == std::vector<Tokens>{{"go", "."}, {"hi", "."}, {"wait", "!"}});
    CHECK(targets(corpus) == std::vector<Tokens>{{"va", "!"}, {"salut", "."}, {"attends", "!"}});
  }

  TEST_CASE("a pair of files is read line by line") {
    const TemporaryDirectory directory;
    const std::string source = directory.write("a.en", "Go.\n\nHi.\nTom\n");
    const std::string target = directory.write("a.zh", "去。\n空\n你好。\n汤姆");
    const Corpus corpus = read_aligned(source, target);
    CHECK(text(corpus) == "go .|去。\nhi .|你好。\ntom|汤姆\n");
    CHECK(corpus.dropped == 1);
    CHECK(text(read_aligned(source, target, {.pairs = 1, .reverse = true})) == "去。|go .\n");
  }

  TEST_CASE("what is wrong with a corpus is said with its place") {
    const TemporaryDirectory directory;
    const std::string path = directory.write("p.tsv", "a\tb\n\nno tab here\nc\td\n");
    CHECK_THROWS_WITH_AS(read_pairs(path), (path + ":3: line must be source, tab, target; it has no tab").c_str(),
                         Error);
    CHECK(read_pairs(path, {.pairs = 1}).size() == 1);
    const std::string blank = directory.write("blank.tsv", "\t\n\n \t\u00A0\n");
    CHECK_THROWS_WITH_AS(read_pairs(blank), (blank + ": a line must have words on both sides; none of 3 has").c_str(),
                         Error);
    const std::string three = directory.write("three", "a\nb\nc\n"), two = directory.write("two", "a\n\n");
    CHECK_THROWS_WITH_AS(
        read_aligned(three, two),
        fmt::format("corpus: files must have equally many lines; {} has 3, {} has 2", three, two).c_str(), Error);
    const std::string none = directory.write("none", "\nb\n");
    CHECK_THROWS_WITH_AS(read_aligned(two, none),
                         fmt::format("{}, {}: a line must have words on both sides; none of 2 has", two, none).c_str(),
                         Error);
    CHECK_THROWS_WITH_AS(read_pairs(directory.path()),
                         (directory.path() + ": must be readable; Is a directory").c_str(), Error);
    const std::string latin1 = directory.write("latin1.tsv", "a\tb\nc\t\xE9\n");
    CHECK_THROWS_WITH_AS(read_pairs(latin1), (latin1 + ":2: text must be UTF-8; byte 3 of the line is 0xe9").c_str(),
                         Error);
  }

  TEST_CASE("parts share no source sentence and lose no pair") {
    const Corpus corpus = numbered_corpus(50);
    const Parts parts = split(corpus, 7, 11, 1);
    CHECK(distinct_sources(parts.valid).size() == 7);
    CHECK(distinct_sources(parts.test).size() == 11);
    CHECK(distinct_sources(parts.train).size() == 32);
    CHECK(parts.train.size() + parts.valid.size() + parts.test.size() == corpus.size());
    std::set<Tokens> all;
    for (const Corpus* part : {&parts.train, &parts.valid, &parts.test}) all.merge(distinct_sources(*part));
    CHECK(all.size() == 50);  // so no source is in two parts

    // All translations of a source are together, in the order of the corpus.
    for (const SentencePair& pair : parts.test.pairs) {
      const auto same = [&](const SentencePair& other) { return other.source == pair.source; };
      CHECK(std::count_if(parts.test.pairs.begin(), parts.test.pairs.end(), same) ==
            std::count_if(corpus.pairs.begin(), corpus.pairs.end(), same));
    }
    CHECK(std::is_sorted(parts.train.pairs.begin(), parts.train.pairs.end(),
                         [](const SentencePair& a, const SentencePair& b) { return a.target < b.target; }));
  }

  TEST_CASE("parts depend on the seed alone") {
    const Corpus corpus = numbered_corpus(40);
    CHECK(text(split(corpus, 5, 6, 1).test) == text(split(corpus, 5, 6, 1).test));
    CHECK(text(split(corpus, 5, 6, 1).test) == text(split(corpus, 0, 6, 1).test));
    CHECK(text(split(corpus, 5, 6, 1).test) != text(split(corpus, 5, 6, 2).test));
    CHECK(text(split(corpus, 5, 6, 1).valid) != text(split(corpus, 5, 6, 1).test));
    CHECK(text(split(corpus, 0, 0, 1).train) == text(corpus));
  }

  TEST_CASE("something must remain for training") {
    const Corpus corpus = numbered_corpus(10);
    CHECK(distinct_sources(split(corpus, 4, 5, 1).train).size() == 1);
    CHECK_THROWS_WITH_AS(split(corpus, 5, 5, 1),
                         "split: valid and test must leave a source sentence for training; 5 and 5 of 10 distinct ones",
                         Error);
    CHECK_THROWS_AS(split(corpus, 0, 10, 1), Error);
    CHECK_THROWS_AS(split(corpus, static_cast<std::size_t>(-1), 2, 1), Error);
    CHECK_THROWS_AS(split(Corpus{}, 0, 0, 1), Error);
  }

  TEST_CASE("random bytes are read or refused, never worse") {
    const TemporaryDirectory directory;
    SplitMix64 random(5);
    // Pieces of text beside mere bytes, so that many files are UTF-8 and some have a tab in every line.
    const std::string pieces[] = {"a",  ".",      "\t",     "\n",      "a\tb\n", "é\t你\r\n",
                                  "你", "\u202F", "\uFEFF", "<eos>\n", "\xC3",   "\xF0\x9F\x98\x80"};
    int read = 0, refused = 0;
    for (int round = 0; round < 600; ++round) {
      std::string bytes;
      for (std::uint64_t i = random.below(round % 2 ? 12 : 60); i > 0; --i) {
        if (round % 2)
          bytes += pieces[random.below(std::size(pieces))];
        else
          bytes += static_cast<char>(random.below(256));
      }
      const std::string path = directory.write("f", bytes);
      // Each reader returns how much it read, which is never nothing. (CHECK itself would swallow what is thrown.)
      const auto attempt = [&](const auto& reader) {
        std::size_t size = 1;
        try {
          size = reader();
          ++read;
        } catch (const Error&) {
          ++refused;
        }
        CHECK(size > 0);
      };
      attempt([&] { return Vocabulary(sources(read_pairs(path)), 1).size() - 4; });
      attempt([&] { return read_aligned(path, path).size(); });
      attempt([&] { return Vocabulary::load(path).size(); });
      for (const BleuTokenizer tokenizer : {BleuTokenizer::none, BleuTokenizer::mteval_13a})
        CHECK(bleu_tokens(lower(bytes), tokenizer).size() <= bytes.size());
    }
    CHECK(read > 100);
    CHECK(refused > 100);
  }
}

TEST_SUITE("shared") {
  TEST_CASE("the French file: pairs of the book, and parts that do not leak") {
    const auto path = shared_path("data/fra-eng.tsv");
    if (!path) {
      MESSAGE("skipped: no data/fra-eng.tsv in ../shared");
      return;
    }
    const Corpus corpus = read_pairs(*path);
    CHECK(corpus.size() == 18065);
    CHECK(corpus.dropped == 0);
    const Parts parts = split(corpus, 500, 500, 1);
    CHECK(distinct_sources(parts.test).size() == 500);
    CHECK(distinct_sources(parts.valid).size() == 500);
    const std::set<Tokens> train = distinct_sources(parts.train);
    for (const Corpus* part : {&parts.valid, &parts.test}) {
      for (const SentencePair& pair : part->pairs) CHECK(train.count(pair.source) == 0);
    }

    // Facts about the first 600 pairs that data/README.md states.
    std::string first;
    for (const SentencePair& pair : read_pairs(*path, {.pairs = 600}).pairs) first += detokenize(pair.source) + "\n";
    for (const char* sentence : {"go .\n", "i lost .\n", "i'm home .\n"})
      CHECK(first.find(sentence) != std::string::npos);
    CHECK(first.find("he's calm .\n") == std::string::npos);
  }

  TEST_CASE("Multi30k in pieces: its lines, the joint vocabulary, and words when joined") {
    const auto folder = shared_path("data/multi30k-en-de");
    if (!folder) {
      MESSAGE("skipped: no data/multi30k-en-de in ../shared");
      return;
    }
    RunConfig config;
    config.source = *folder + "/train.en";
    config.target = *folder + "/train.de";
    config.valid_files = {*folder + "/valid.en", *folder + "/valid.de"};
    config.test_files = {*folder + "/test.2016.en", *folder + "/test.2016.de"};
    config.tokenizer = suitable_tokenizer(config);
    config.joint_vocabulary = true;
    CHECK(config.tokenizer == "spaces");
    const RunData data = load_data(config);
    CHECK(data.train.size() == 29000);
    CHECK(data.valid.size() == 1014);
    CHECK(data.test.size() == 1000);
    const auto [source, target] = vocabularies(config, data);
    CHECK(source.size() == 9712);  // 9,708 different pieces, counted with Python
    CHECK(target.size() == source.size());
    std::size_t words = 0;
    for (const SentencePair& pair : data.test.pairs) {
      words += data.segmenter.words(pair.target).size();
      for (const Tokens* side : {&pair.source, &pair.target})
        CHECK(data.segmenter.join(*side).find("@@") == std::string::npos);
    }
    CHECK(words == 12103);  // the reference length that data/README.md states
  }

  TEST_CASE("the Chinese file is split by character, in both directions") {
    const auto path = shared_path("data/cmn-eng.tsv");
    if (!path) {
      MESSAGE("skipped: no data/cmn-eng.tsv in ../shared");
      return;
    }
    const Corpus forward = read_pairs(*path), backward = read_pairs(*path, {.reverse = true});
    CHECK(forward.size() == 20133);
    CHECK(forward.pairs.at(2).target == Tokens{"你", "用", "跑", "的", "。"});
    CHECK(sources(forward) == targets(backward));
    CHECK(targets(forward) == sources(backward));
    const Vocabulary characters(targets(forward), 1);
    CHECK(characters.size() > 2000);
    CHECK(characters.size() < 5000);
  }
}
