#include "models/tokenizer.h"

#include <fmt/ranges.h>

#include "models/utf8.h"

namespace tapestry {

namespace {

bool separates(char32_t c) {
  return is_space(c) || c == U'\u200B' || c == U'\uFEFF';
}

bool starts_token(char32_t c) {
  return c == U',' || c == U'.' || c == U'!' || c == U'?' || is_cjk(c);
}

char32_t last_code_point(const std::string& text) {
  std::size_t at = text.size() - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return decode_utf8(text, at).value;
}

}  // namespace

Tokens tokenize(std::string_view text) {
  require_utf8(text);
  Tokens tokens;
  std::string word;
  const auto finish = [&] {
    if (!word.empty()) tokens.push_back(std::move(word));
    word.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    at += c.length;
    if (separates(c.value) || starts_token(c.value)) finish();
    if (!separates(c.value)) append_utf8(word, to_lower(c.value));
    if (is_cjk(c.value)) finish();
  }
  finish();
  return tokens;
}

std::string detokenize(const Tokens& tokens) {
  std::string text;
  for (const std::string& token : tokens) {
    if (token.empty()) continue;
    if (!text.empty() && !is_cjk(last_code_point(text)) && !is_cjk(decode_utf8(token, 0).value)) text += ' ';
    text += token;
  }
  return text;
}

std::string spaced(const Tokens& tokens) {
  return fmt::format("{}", fmt::join(tokens, " "));
}

Tokens join_pieces(const Tokens& pieces) {
  constexpr std::string_view joiner = "@@";
  Tokens words;
  std::string word;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const bool goes_on = pieces[i].ends_with(joiner);
    word.append(pieces[i], 0, pieces[i].size() - (goes_on ? joiner.size() : 0));
    if ((goes_on && i + 1 < pieces.size()) || word.empty()) continue;
    words.push_back(std::move(word));
    word.clear();
  }
  return words;
}

std::string join_subwords(const Tokens& pieces) {
  constexpr std::string_view space = "\u2581";
  std::string text;
  for (const std::string& piece : pieces)
    for (std::size_t at = 0; at < piece.size();) {
      const bool is_space = piece.compare(at, space.size(), space) == 0;
      if (!is_space)
        text += piece[at];
      else if (!text.empty() && text.back() != ' ')
        text += ' ';
      at += is_space ? space.size() : 1;
    }
  if (text.ends_with(' ')) text.pop_back();
  return text;
}

}  // namespace tapestry
