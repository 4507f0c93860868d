#include "models/segmenter.h"

#include <doctest/doctest.h>

#include "core/error.h"

using namespace tapestry;

TEST_SUITE("fast") {
  TEST_CASE("the book's tokenizer is tokenize and detokenize") {
    const Segmenter book;
    CHECK(book.split("Go on, 我叫Tom!") == tokenize("Go on, 我叫Tom!"));
    CHECK(book.join({"我", "叫", "tom", "ok@@", "."}) == "我叫tom ok@@ .");
    CHECK(book.words({"我", "叫", "a@@", "b"}) == Tokens{"我", "叫", "a@@", "b"});
    CHECK(book.subwords() == nullptr);
  }

  TEST_CASE("tokenised text is split at white space and not changed; pieces come out as words") {
    const Segmenter spaces("spaces");
    const Tokens pieces{"Die", "Stadt@@", "bib@@", "liothek", "&apos;s", "3.5", ",no", "."};
    CHECK(spaces.split(" Die Stadt@@ bib@@  liothek\u00A0&apos;s 3.5 ,no .") == pieces);
    CHECK(spaces.join(pieces) == "Die Stadtbibliothek &apos;s 3.5 ,no .");
    CHECK(spaces.words(pieces) == Tokens{"Die", "Stadtbibliothek", "&apos;s", "3.5", ",no", "."});
    CHECK(spaces.split("").empty());
    CHECK(spaces.join({}) == "");
    CHECK_THROWS_WITH_AS(spaces.split("a \xE9"), "tokenize: text must be UTF-8; byte 3 is 0xe9", Error);
  }

  TEST_CASE("an unknown tokenizer is a usage error") {
    CHECK_THROWS_WITH_AS(Segmenter("moses"), "--tokenizer: must be one of book, spaces; given moses", UsageError);
  }
}
