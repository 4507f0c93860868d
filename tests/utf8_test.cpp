#include "models/utf8.h"

#include <doctest/doctest.h>

using namespace tapestry;

TEST_SUITE("fast") {
  TEST_CASE("code points of one to four bytes are read and written back") {
    // The examples of RFC 3629 and of Unicode's table 3-6, with the edges of each length.
    const struct {
      const char* bytes;
      char32_t value;
    } cases[] = {{"A", 0x41},
                 {"\x7F", 0x7F},
                 {"\xC2\x80", 0x80},
                 {"\xC3\xA9", 0xE9},
                 {"\xDF\xBF", 0x7FF},
                 {"\xE0\xA0\x80", 0x800},
                 {"\xE2\x89\xA2", 0x2262},
                 {"\xED\x9F\xBF", 0xD7FF},
                 {"\xEE\x80\x80", 0xE000},
                 {"\xEF\xBF\xBD", 0xFFFD},
                 {"\xEF\xBF\xBF", 0xFFFF},
                 {"\xF0\x90\x80\x80", 0x10000},
                 {"\xF0\xA3\x8E\xB4", 0x233B4},
                 {"\xF4\x8F\xBF\xBF", 0x10FFFF}};
    for (const auto& c : cases) {
      const std::string bytes = c.bytes;
      const CodePoint read = decode_utf8(bytes, 0);
      CHECK(read.value == c.value);
      CHECK(read.length == bytes.size());
      CHECK_FALSE(read.malformed());
      std::string written;
      append_utf8(written, c.value);
      CHECK(written == bytes);
    }
  }

  TEST_CASE("what RFC 3629 forbids is malformed and takes one byte") {
    const char* const cases[] = {
        "\x80",              // continuation without a lead
        "\xC3",              // cut short
        "\xE2\x89",          // cut short
        "\xF0\x90\x80",      // cut short
        "\xC3(",             // lead without continuation
        "\xE2\x89(",         //
        "\xC0\xAF",          // '/' in two bytes
        "\xC1\xBF",          //
        "\xE0\x9F\xBF",      // U+07FF in three
        "\xF0\x8F\xBF\xBF",  // U+FFFF in four
        "\xED\xA0\x80",      // surrogate
        "\xED\xBF\xBF",      // surrogate
        "\xF4\x90\x80\x80",  // above U+10FFFF
        "\xF5\x80\x80\x80",
        "\xFE",
        "\xFF",
    };
    for (const char* bytes : cases) {
      CAPTURE(bytes);
      CHECK(decode_utf8(bytes, 0).malformed());
      CHECK(decode_utf8(bytes, 0).length == 1);
      CHECK(first_malformed(std::string("\xC3\xA9 ") + bytes) == 3);
    }
    CHECK(first_malformed("d\xC3\xA9j\xC3\xA0 \xEF\xBF\xBD") == std::string_view::npos);
    CHECK(first_malformed("") == std::string_view::npos);
  }

  TEST_CASE("lower case of Latin, Greek and Cyrillic") {
    CHECK(lower("AZ az [\\] @ 09") == "az az [\\] @ 09");
    CHECK(lower("ÀÉÊÖ×ØÞß÷ÿ") == "àéêö×øþß÷ÿ");
    CHECK(lower("ĀĮĲĶĹŇŊŶŸŹŽ āžŉĸſ") == "āįĳķĺňŋŷÿźž āžŉĸſ");
    CHECK(lower("İI") == "ii");
    CHECK(lower("ƠƯǍǛȘȚ") == "ơưǎǜșț");
    CHECK(lower("ΆΈΊΌΎΏΑΡΣΩΫ άς") == "άέίόύώαρσωϋ άς");
    CHECK(lower("ЀЁЏАЯҐӀӁӐԮ ёя") == "ѐёџаяґӏӂӑԯ ёя");
    CHECK(lower("ḀẔẞẠỄỸ") == "ḁẕßạễỹ");
    CHECK(lower("ＡＺ 中文。") == "ａｚ 中文。");
    CHECK(lower("A\xFF\xC3"
                "B") ==
          "a\xFF\xC3"
          "b");
    for (char32_t c = 0; c < 0x11000; ++c)
      CHECK_MESSAGE(to_lower(to_lower(c)) == to_lower(c), static_cast<unsigned>(c));
  }

  TEST_CASE("words lie between white space of any kind") {
    CHECK(split_words("") == std::vector<std::string>{});
    CHECK(split_words(" \t\n") == std::vector<std::string>{});
    CHECK(split_words("a") == std::vector<std::string>{"a"});
    // no-break, narrow no-break, thin, ideographic space, next line, unit separator; zero-width space is none
    CHECK(split_words("  a\u00A0b\u202Fc\u2009d\u3000e\u0085f\x1Fg\u200Bh ") ==
          std::vector<std::string>{"a", "b", "c", "d", "e", "f", "g\u200Bh"});
  }

  TEST_CASE("scripts without spaces") {
    for (const char32_t c : U"你㥃𡡡々。，！？「：あアーㄅ﹐％＂") {
      if (c) CHECK_MESSAGE(is_cjk(c), static_cast<unsigned>(c));
    }
    for (const char32_t c : U"aé.,’“”…·—한я\u3000\u2009") CHECK_MESSAGE(!is_cjk(c), static_cast<unsigned>(c));
  }
}
