#include "models/subwords.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "models/builtin_corpus.h"
#include "models/segmenter.h"

using namespace tapestry;

namespace {

std::string text_of(const Tokens& words) {
  return std::accumulate(words.begin(), words.end(), std::string(),
                         [](const std::string& a, const std::string& b) { return a.empty() ? b : a + " " + b; });
}

const std::vector<std::string>& lines() {
  static const std::vector<std::string> text = [] {
    std::vector<std::string> all;
    for (const AlignedPair& pair : builtin_corpus(300, 1, 1, 1).train)
      for (const Tokens& side : {pair.source, pair.target}) all.push_back(text_of(side));
    return all;
  }();
  return text;
}

bool is_piece(const Subwords& subwords, const std::string& token) {
  return std::find(subwords.pieces().begin(), subwords.pieces().end(), token) != subwords.pieces().end();
}

}  // namespace

TEST_SUITE_BEGIN("fast");

TEST_CASE("the pieces of SentencePiece spell plain text") {
  CHECK(join_subwords({"▁play", "house", "▁", ".", "▁é"}) == "playhouse . é");
  CHECK(join_subwords({"a▁b", "▁", "▁c", "▁"}) == "a b c");
  CHECK(join_subwords({"▁Caf", "<unk>"}) == "Caf<unk>");
  CHECK(join_subwords({"▁", "▁"}) == "");
  CHECK(join_subwords({}) == "");
}

TEST_CASE("without the library subwords say what to install") {
  if (Subwords::available()) return;
  const char* message =
      "subwords: the program must be built with SentencePiece; it is not: install libsentencepiece-dev, then meson "
      "setup --wipe build and ninja -C build";
  CHECK_THROWS_WITH_AS(Subwords::train({"a b"}, 3), message, UsageError);
  CHECK_THROWS_WITH_AS(Subwords(""), message, UsageError);
}

TEST_CASE("subwords are merges of frequent neighbours, worked by hand") {
  if (!Subwords::available()) return;
  // The example of models/README.md: first "a b", which stands there three times, then "▁ ab", twice.
  const Subwords subwords = Subwords::train({"ab cab", "abc b"}, 6);
  Tokens sorted = subwords.pieces();
  std::sort(sorted.begin(), sorted.end());
  CHECK(sorted == Tokens{"a", "ab", "b", "c", "▁", "▁ab"});
  CHECK(subwords.split("ab  cab\nx") == Tokens{"▁ab", "▁", "c", "ab", "▁", "x"});
}

TEST_CASE("plain text comes back from subwords, but for its white space") {
  if (!Subwords::available()) return;
  const Subwords subwords = Subwords::train(lines(), 200);
  CHECK(subwords.pieces().size() == 200);
  for (const std::string& line : lines()) {
    const Tokens tokens = subwords.split(line);
    CHECK(join_subwords(tokens) == line);
    for (const std::string& token : tokens) REQUIRE(is_piece(subwords, token));
  }
  CHECK(join_subwords(subwords.split("  Ça\u00A0va,\tＴｏｍ ﬁ 你好? <unk> @@ \xF0\x9F\x98\x80 ")) ==
        "Ça va, Ｔｏｍ ﬁ 你好? <unk> @@ \xF0\x9F\x98\x80");
  CHECK(subwords.split("").empty());
  CHECK(subwords.split(" \u00A0\t").empty());
  CHECK_THROWS_WITH_AS(subwords.split("caf\xE9"), "tokenize: text must be UTF-8; byte 4 is 0xe9", Error);
}

TEST_CASE("the same text gives the same subwords, and their bytes give them again") {
  if (!Subwords::available()) return;
  const Subwords a = Subwords::train(lines(), 150), b = Subwords::train(lines(), 150), stored(a.model());
  CHECK(a.model() == b.model());
  CHECK(stored.pieces() == a.pieces());
  for (const std::string& line : {lines()[0], lines()[1], std::string("Zebra crossings.")})
    CHECK(stored.split(line) == a.split(line));
  const Segmenter segmenter(a);
  CHECK(segmenter.split(lines()[0]) == a.split(lines()[0]));
  CHECK(segmenter.join(a.split("the cat.")) == "the cat.");
  CHECK(segmenter.words(a.split("the cat.")) == Tokens{"the", "cat."});
}

TEST_CASE("a number of subwords that the text does not give is a usage error") {
  if (!Subwords::available()) return;
  const std::vector<std::string> text{"ab cab", "abc b"};
  CHECK_THROWS_WITH_AS(Subwords::train(text, 3),
                       "--subwords: must be at least the 4 different characters of this training text; given 3",
                       UsageError);
  CHECK_THROWS_WITH_AS(Subwords::train(text, 100), "--subwords: must be at most 15 for this training text; given 100",
                       UsageError);
  CHECK(Subwords::train(text, 15).pieces().size() == 15);
}

TEST_CASE("bytes that are no model of subwords are refused, whatever is cut off") {
  if (!Subwords::available()) return;
  const char* message = "it must be a SentencePiece model; it is none";
  CHECK_THROWS_WITH_AS(Subwords("garbage"), message, Error);
  CHECK_THROWS_WITH_AS(Subwords(std::string(300, '\xff')), message, Error);
  const std::string whole = Subwords::train({"ab cab", "abc b"}, 6).model();
  std::size_t refused = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    try {
      if (Subwords(whole.substr(0, size)).pieces().size() > 6) FAIL("more pieces than the whole has");
    } catch (const Error& error) {
      REQUIRE(std::string(error.what()) == message);
      ++refused;
    }
  }
  CHECK(refused > whole.size() / 2);
}

TEST_SUITE_END();
