#include "models/tokenizer.h"

#include <doctest/doctest.h>

#include "core/error.h"

using namespace tapestry;

TEST_SUITE("fast") {
  TEST_CASE("a sentence is split as the book does") {
    CHECK(tokenize("Go.") == Tokens{"go", "."});
    CHECK(tokenize("Va\u202F!") == Tokens{"va", "!"});
    CHECK(tokenize("Qui est cette fille\u202F ?") == Tokens{"qui", "est", "cette", "fille", "?"});
    CHECK(tokenize("J'ai perdu\u00A0; Élise aussi.") == Tokens{"j'ai", "perdu", ";", "élise", "aussi", "."});
    CHECK(tokenize("Well...no,thanks") == Tokens{"well", ".", ".", ".no", ",thanks"});
    CHECK(tokenize("3.5") == Tokens{"3", ".5"});
    CHECK(tokenize("?") == Tokens{"?"});
    CHECK(tokenize("\uFEFF a\u200B b ") == Tokens{"a", "b"});
    CHECK(tokenize("").empty());
    CHECK(tokenize(" \t\u00A0").empty());
  }

  TEST_CASE("text without spaces is split by character, words inside it stay whole") {
    CHECK(tokenize("你用跑的。") == Tokens{"你", "用", "跑", "的", "。"});
    CHECK(tokenize("我叫Tom Smith，OK?") == Tokens{"我", "叫", "tom", "smith", "，", "ok", "?"});
    CHECK(tokenize("𡡡很") == Tokens{"𡡡", "很"});
  }

  TEST_CASE("tokens are joined by spaces, but not beside a character of a script without them") {
    CHECK(detokenize({"je", "suis", "chez", "moi", "."}) == "je suis chez moi .");
    CHECK(detokenize({"我", "叫", "tom", "smith", "。"}) == "我叫tom smith。");
    CHECK(detokenize({"é", "é"}) == "é é");
    CHECK(detokenize({"", "a", ""}) == "a");
    CHECK(detokenize({}) == "");
    CHECK(tokenize(detokenize(tokenize("他说Tom来了。"))) == tokenize("他说Tom来了。"));
  }

  TEST_CASE("pieces of subword-nmt are put together") {
    CHECK(join_pieces({"a", "play@@", "house", "pul@@", "l@@", "ey", "."}) == Tokens{"a", "playhouse", "pulley", "."});
    CHECK(join_pieces({"un@@", "ended@@"}) == Tokens{"unended"});
    CHECK(join_pieces({"@@", "x", "a@b", "@@c", "@@"}) == Tokens{"x", "a@b", "@@c"});
    CHECK(join_pieces({"cat@@", "<unk>"}) == Tokens{"cat<unk>"});
    CHECK(join_pieces({}).empty());
  }

  TEST_CASE("text that is not UTF-8 is refused") {
    CHECK_THROWS_WITH_AS(tokenize("caf\xE9"), "tokenize: text must be UTF-8; byte 4 is 0xe9", Error);
  }
}
