#include "models/vocabulary.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "core/error.h"
#include "models/corpus.h"
#include "tests/shared.h"
#include "tests/temporary_directory.h"

using namespace tapestry;

namespace {

std::vector<std::string> words(const Vocabulary& vocabulary) {
  std::vector<std::string> all;
  for (std::size_t id = 0; id < vocabulary.size(); ++id) all.push_back(vocabulary.token(static_cast<std::int32_t>(id)));
  return all;
}

const std::vector<Tokens> sentences = {{"b", "a", "c"}, {"d", "c", "a"}, {"c", "e", "b"}};

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("words are ordered by falling count, then by first appearance") {
    CHECK(words(Vocabulary(sentences, 2)) == Tokens{"<unk>", "<pad>", "<bos>", "<eos>", "c", "b", "a"});
    CHECK(words(Vocabulary(sentences, 3)) == Tokens{"<unk>", "<pad>", "<bos>", "<eos>", "c"});
    CHECK(words(Vocabulary(sentences, 1)) == Tokens{"<unk>", "<pad>", "<bos>", "<eos>", "c", "b", "a", "d", "e"});
    CHECK(words(Vocabulary(sentences, 4)) == words(Vocabulary()));
    CHECK(Vocabulary({}, 1).size() == 4);

    Tokens many;  // enough for a sort to put equals out of order if it may
    for (int i = 0; i < 100; ++i) many.push_back("w" + std::to_string(i * 37 % 100));
    const Tokens ordered = words(Vocabulary({many}, 1));
    CHECK(Tokens(ordered.begin() + 4, ordered.end()) == many);
  }

  TEST_CASE("a word that is not known gets the id of <unk>") {
    const Vocabulary vocabulary(sentences, 2);
    CHECK(vocabulary.ids({"a", "e", "c", "b"}) == std::vector<std::int32_t>{6, Vocabulary::unk, 4, 5});
    CHECK(vocabulary.ids({}).empty());
    CHECK(vocabulary.token(Vocabulary::unk) == "<unk>");
    CHECK(vocabulary.token(Vocabulary::pad) == "<pad>");
    CHECK(vocabulary.token(Vocabulary::bos) == "<bos>");
    CHECK(vocabulary.token(Vocabulary::eos) == "<eos>");
  }

  TEST_CASE("text cannot speak for a control token") {
    const Vocabulary vocabulary({{"<eos>", "a", "<eos>", "<pad>", "<bos>", "<unk>"}}, 1);
    CHECK(words(vocabulary) == Tokens{"<unk>", "<pad>", "<bos>", "<eos>", "a"});
    CHECK(vocabulary.ids({"<eos>", "a", "<bos>"}) == std::vector<std::int32_t>{Vocabulary::unk, 4, Vocabulary::unk});
  }

  TEST_CASE("ids and tokens have limits") {
    const Vocabulary vocabulary(sentences, 2);
    CHECK_THROWS_WITH_AS(vocabulary.token(7), "vocabulary: id must be in [0, 7); 7", Error);
    CHECK_THROWS_WITH_AS(vocabulary.token(-1), "vocabulary: id must be in [0, 7); -1", Error);
    CHECK_THROWS_WITH_AS(Vocabulary({{"two words"}}, 1),
                         "vocabulary: a token must be UTF-8 without white space; \"two words\"", Error);
    CHECK_THROWS_AS(Vocabulary({{""}}, 1), Error);
    CHECK_THROWS_AS(Vocabulary({{"\xFF"}}, 1), Error);
  }

  TEST_CASE("a vocabulary survives its file") {
    const TemporaryDirectory directory;
    const Vocabulary vocabulary({{"été", "你", "<eos>", "\u200B", "'"}}, 1);
    vocabulary.save(directory.file("v"));
    const Vocabulary loaded = Vocabulary::load(directory.file("v"));
    CHECK(words(loaded) == words(vocabulary));
    CHECK(loaded.ids({"'", "你", "x", "<eos>"}) == vocabulary.ids({"'", "你", "x", "<eos>"}));
    Vocabulary().save(directory.file("v"));
    CHECK(Vocabulary::load(directory.file("v")).size() == 4);
  }

  TEST_CASE("a foreign or damaged vocabulary is refused by file and line") {
    const TemporaryDirectory directory;
    const auto refuses = [&](const std::string& content, const std::string& message) {
      const std::string path = directory.write("v", content);
      CHECK_THROWS_WITH_AS(Vocabulary::load(path), (path + message).c_str(), Error);
    };
    refuses("hello\nworld\n", ":1: line must be the control token <unk>; \"hello\"");
    refuses("<unk>\n<pad>\n", ":3: line must be the control token <bos>; \"\"");
    const std::string head = "<unk>\n<pad>\n<bos>\n<eos>\n";
    refuses(head + "a\n\nb\n", ":6: line must be one token without white space; \"\"");
    refuses(head + "a b\n", ":5: line must be one token without white space; \"a b\"");
    refuses(head + "a\nb\na\n", ":7: tokens must differ; \"a\" is there already");
    refuses(head + "a\n<pad>\n", ":6: tokens must differ; \"<pad>\" is there already");
    refuses(head + "a\n\xFF\n", ":6: text must be UTF-8; byte 1 of the line is 0xff");
    refuses("", ": file must hold text; it is empty");
  }

  TEST_CASE("a vocabulary that cannot be written says why") {
    const TemporaryDirectory directory;
    const std::string nowhere = directory.file("missing/v");
    CHECK_THROWS_WITH_AS(Vocabulary().save(nowhere),
                         (nowhere + ": must be writable; No such file or directory").c_str(), Error);
    if (std::filesystem::exists("/dev/full"))
      CHECK_THROWS_WITH_AS(Vocabulary().save("/dev/full"), "/dev/full: must be writable; No space left on device",
                           Error);
  }
}

TEST_SUITE("shared") {
  TEST_CASE("the book's 600 pairs give the sizes its code prints") {
    const auto path = shared_path("data/fra-eng.tsv");
    if (!path) {
      MESSAGE("skipped: no data/fra-eng.tsv in ../shared");
      return;
    }
    const Corpus corpus = read_pairs(*path, {.pairs = 600});
    CHECK(corpus.size() == 600);
    CHECK(Vocabulary(sources(corpus), 2).size() == 188);
    CHECK(Vocabulary(targets(corpus), 2).size() == 201);
  }
}
