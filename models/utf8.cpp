#include "models/utf8.h"

#include <algorithm>
#include <iterator>

#include "core/error.h"

namespace tapestry {

namespace {

constexpr CodePoint malformed{U'\uFFFD', 1};

struct Range {
  char32_t first, last;
};

bool is_in(const Range* begin, const Range* end, char32_t value) {
  return std::any_of(begin, end, [value](Range r) { return r.first <= value && value <= r.last; });
}

// Capital letters first, first + stride, ... last lie `offset` below their small ones. Where capitals and small
// letters alternate (Ā ā Ă ă ...), the stride is 2 and the offset 1.
struct Capitals {
  char32_t first, last;
  int stride, offset;
};

constexpr Capitals capitals[] = {
    {U'A', U'Z', 1, 32},
    {0x00C0, 0x00D6, 1, 32},  // Latin-1: À to Ö, then Ø to Þ; × lies between
    {0x00D8, 0x00DE, 1, 32},
    {0x0100, 0x012E, 2, 1},  // Latin Extended-A
    {0x0130, 0x0130, 1, -199},
    {0x0132, 0x0136, 2, 1},
    {0x0139, 0x0147, 2, 1},
    {0x014A, 0x0176, 2, 1},
    {0x0178, 0x0178, 1, -121},
    {0x0179, 0x017D, 2, 1},
    {0x01A0, 0x01A4, 2, 1},  // Latin Extended-B, its regular part:
                             // Vietnamese, pinyin, Romanian
    {0x01AF, 0x01AF, 1, 1},
    {0x01CD, 0x01DB, 2, 1},
    {0x01DE, 0x01EE, 2, 1},
    {0x01F8, 0x021E, 2, 1},
    {0x0222, 0x0232, 2, 1},
    {0x0386, 0x0386, 1, 38},  // Greek
    {0x0388, 0x038A, 1, 37},
    {0x038C, 0x038C, 1, 64},
    {0x038E, 0x038F, 1, 63},
    {0x0391, 0x03A1, 1, 32},
    {0x03A3, 0x03AB, 1, 32},
    {0x0400, 0x040F, 1, 80},  // Cyrillic
    {0x0410, 0x042F, 1, 32},
    {0x0460, 0x0480, 2, 1},
    {0x048A, 0x04BE, 2, 1},
    {0x04C0, 0x04C0, 1, 15},
    {0x04C1, 0x04CD, 2, 1},
    {0x04D0, 0x052E, 2, 1},
    {0x1E00, 0x1E94, 2, 1},  // Latin Extended Additional:
                             // Vietnamese
    {0x1E9E, 0x1E9E, 1, -7615},
    {0x1EA0, 0x1EFE, 2, 1},
    {0xFF21, 0xFF3A, 1, 32},  // full-width Latin
};

constexpr Range spaces[] = {{0x09, 0x0D},     {0x1C, 0x20},     {0x85, 0x85},     {0xA0, 0xA0},     {0x1680, 0x1680},
                            {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}};

constexpr Range cjk[] = {
    {0x2E80, 0x2FFF},    // radicals
    {0x3001, 0x312F},    // punctuation, kana, bopomofo
    {0x3190, 0x4DBF},    // annotation, strokes, enclosed characters, Extension A
    {0x4E00, 0x9FFF},    // the unified characters
    {0xF900, 0xFAFF},    // compatibility characters
    {0xFE30, 0xFE6F},    // vertical and small punctuation
    {0xFF01, 0xFF9F},    // full-width forms, half-width kana
    {0xFFE0, 0xFFE6},    // full-width signs
    {0x20000, 0x3FFFD},  // Extensions B and beyond
};

}  // namespace

CodePoint decode_utf8(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || at + length > text.size()) return malformed;

  char32_t value = lead & (0xFF >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return malformed;
    value = value << 6 | (byte(i) & 0x3F);
  }
  constexpr char32_t smallest[] = {0x80, 0x800, 0x10000};  // of a sequence of 2, 3, 4 bytes
  const bool surrogate = 0xD800 <= value && value <= 0xDFFF;
  if (value < smallest[length - 2] || surrogate || value > 0x10FFFF) return malformed;
  return {value, length};
}

void append_utf8(std::string& text, char32_t value) {
  const auto continuation = [&](int shift) { text += static_cast<char>(0x80 | (value >> shift & 0x3F)); };
  if (value < 0x80) {
    text += static_cast<char>(value);
  } else if (value < 0x800) {
    text += static_cast<char>(0xC0 | value >> 6);
    continuation(0);
  } else if (value < 0x10000) {
    text += static_cast<char>(0xE0 | value >> 12);
    continuation(6);
    continuation(0);
  } else {
    text += static_cast<char>(0xF0 | value >> 18);
    continuation(12);
    continuation(6);
    continuation(0);
  }
}

std::size_t first_malformed(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    if (c.malformed()) return at;
    at += c.length;
  }
  return std::string_view::npos;
}

void require_utf8(std::string_view text) {
  const std::size_t bad = first_malformed(text);
  require(bad == std::string_view::npos, "tokenize: text must be UTF-8; byte {} is 0x{:02x}", bad + 1,
          bad < text.size() ? static_cast<unsigned char>(text[bad]) : 0);
}

char32_t to_lower(char32_t value) {
  for (const Capitals& c : capitals) {
    if (value < c.first) return value;  // the table is in order
    if (value <= c.last && (value - c.first) % c.stride == 0) return value + c.offset;
  }
  return value;
}

std::string lower(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    if (c.malformed())
      result += text[at];
    else
      append_utf8(result, to_lower(c.value));
    at += c.length;
  }
  return result;
}

bool is_space(char32_t value) {
  return is_in(std::begin(spaces), std::end(spaces), value);
}

bool is_cjk(char32_t value) {
  return is_in(std::begin(cjk), std::end(cjk), value);
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::size_t start = 0;  // of the word that is being read
  const auto finish = [&](std::size_t end) {
    if (end > start) words.emplace_back(text.substr(start, end - start));
  };
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    if (is_space(c.value)) {
      finish(at);
      start = at + c.length;
    }
    at += c.length;
  }
  finish(text.size());
  return words;
}

}  // namespace tapestry
