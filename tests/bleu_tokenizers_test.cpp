#include "models/bleu_tokenizers.h"

#include <doctest/doctest.h>

#include "models/utf8.h"

using namespace tapestry;

TEST_SUITE("fast") {
  TEST_CASE("13a parts punctuation from words, but not inside numbers") {
    const struct {
      const char* sentence;
      const char* tokens;
    } cases[] = {
        {"Hello, world!", "Hello , world !"},
        {"It costs $3.50, or 1,000.", "It costs $ 3.50 , or 1,000 ."},
        {"don't 'quote' well-known", "don't 'quote' well-known"},
        {"1990-91 A-1", "1990 - 91 A-1"},
        {"U.S. a.b,c", "U . S . a . b , c"},
        {"a... 5. .5", "a . . . 5 . . 5"},
        {"3.x x.3", "3 . x x . 3"},
        {"[(a+b)*c]/{d}~e^f_g`h|i\\j@k#l%m;n:o=p",
         "[ ( a + b ) * c ] / { d } ~ e ^ f _ g ` h | i \\ j @ k # l % m ; n : o = p"},
        {"&quot;A&amp;B&quot; &lt;x&gt; &amp;lt;", "\" A & B \" < x > <"},
        {"x<skipped>y hy-\nphen two\nlines-\n", "xy hyphen two lines-"},
        {"\u00C9t\u00E9\u202F! \u00AB oui \u00BB \u00E9.\u00E9", "\u00C9t\u00E9 ! \u00AB oui \u00BB \u00E9 . \u00E9"},
        {"\u4F60\u597D\uFF0C\u4E16\u754C\uFF01", "\u4F60\u597D\uFF0C\u4E16\u754C\uFF01"},
        {"", ""},
        {" \t ", ""},
    };
    for (const auto& c : cases) {
      CAPTURE(c.sentence);
      CHECK(bleu_tokens(c.sentence, BleuTokenizer::mteval_13a) == split_words(c.tokens));
    }
  }

  TEST_CASE("none splits at white space and does nothing else") {
    CHECK(bleu_tokens(" Va\u202F! &amp; 3.5,  ", BleuTokenizer::none) == Tokens{"Va", "!", "&amp;", "3.5,"});
    CHECK(bleu_tokens("", BleuTokenizer::none).empty());
  }

  TEST_CASE("bytes that are not UTF-8 pass through") {
    CHECK(bleu_tokens("\xFF.\xC3", BleuTokenizer::mteval_13a) == Tokens{"\xFF", ".", "\xC3"});
  }
}
