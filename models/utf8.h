#pragma once
// As much Unicode as word-level translation needs: code points, lower case, white space, scripts without spaces.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tapestry {

/// One code point and the number of bytes it takes. A byte that starts no well-formed sequence
/// (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF) is U+FFFD of length 1; the genuine U+FFFD has
/// length 3.
struct CodePoint {
  char32_t value;
  std::size_t length;
  bool malformed() const { return value == U'\uFFFD' && length == 1; }
};

/// The code point that starts at byte `at`, which must lie inside `text`.
CodePoint decode_utf8(std::string_view text, std::size_t at);

/// Appends the bytes of one code point.
void append_utf8(std::string& text, char32_t value);

/// The offset of the first byte that is not UTF-8, or std::string_view::npos.
std::size_t first_malformed(std::string_view text);

/// Errors: `tokenize: text must be UTF-8; byte 4 is 0xe9`.
void require_utf8(std::string_view text);

/// Unicode's simple lower case for Latin (with its accents), Greek and Cyrillic; everything else is returned as it is.
/// Simple means one code point for one: a final sigma stays σ, and İ becomes a plain i.
char32_t to_lower(char32_t value);

/// `text` with to_lower applied to every code point. Malformed bytes are kept.
std::string lower(std::string_view text);

/// White space as Unicode and Python's str.split see it: U+00A0, U+2009 and U+202F are among it, U+200B is not.
bool is_space(char32_t value);

/// A character of a script that is written without spaces: Chinese characters, kana, bopomofo, their punctuation,
/// and full-width forms. Not Hangul, which has spaces.
bool is_cjk(char32_t value);

/// The pieces of `text` between white space; none is empty.
std::vector<std::string> split_words(std::string_view text);

}  // namespace tapestry
