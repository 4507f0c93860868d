#include "models/tokenizer.h"

#include "core/error.h"
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
  const std::size_t bad = first_malformed(text);
  require(bad == std::string_view::npos, "tokenize: text must be UTF-8; byte {} is 0x{:02x}", bad + 1,
          bad < text.size() ? static_cast<unsigned char>(text[bad]) : 0);
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

}  // namespace tapestry
