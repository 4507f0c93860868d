#include "models/bleu_tokenizers.h"

#include "models/utf8.h"

namespace tapestry {

namespace {

bool is_digit(char c) {
  return '0' <= c && c <= '9';
}

bool is_stop(char c) {
  return c == '.' || c == ',';
}

// The ASCII signs, space included, that stand alone wherever they are: all but ' , - and . (and digits, letters).
bool is_symbol(char c) {
  return (' ' <= c && c <= '&') || ('(' <= c && c <= '+') || c == '/' || (':' <= c && c <= '@') ||
         ('[' <= c && c <= '`') || ('{' <= c && c <= '~');
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

std::string isolate_symbols(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (is_symbol(c))
      result.append({' ', c, ' '});
    else
      result += c;
  }
  return result;
}

enum class Isolate { first, second };

/// Goes through the text from left to right and, where two neighbours satisfy the two conditions, puts spaces round one
/// of them. As in a regular expression, a pair that was changed is passed over, so "a.." is read as (a .)(. ... Bytes
/// serve as well as characters: no byte inside a UTF-8 sequence is a digit, a stop or a hyphen.
template <class First, class Second>
std::string isolate_pairs(const std::string& text, First first, Second second, Isolate which) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 1 == text.size() || !first(text[i]) || !second(text[i + 1])) {
      result += text[i];
    } else {
      if (which == Isolate::first)
        result.append({' ', text[i], ' ', text[i + 1]});
      else
        result.append({text[i], ' ', text[i + 1], ' '});
      ++i;
    }
  }
  return result;
}

Tokens tokens_13a(std::string_view sentence) {
  std::string text(sentence);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  replace_all(text, "<skipped>", "");
  replace_all(text, "-\n", "");  // a word hyphenated at the end of a line
  replace_all(text, "\n", " ");
  replace_all(text, "&quot;", "\"");
  replace_all(text, "&amp;", "&");
  replace_all(text, "&lt;", "<");
  replace_all(text, "&gt;", ">");

  const auto not_digit = [](char c) { return !is_digit(c); };
  const auto is_hyphen = [](char c) { return c == '-'; };
  text = isolate_symbols(" " + text + " ");
  text = isolate_pairs(text, not_digit, is_stop, Isolate::second);
  text = isolate_pairs(text, is_stop, not_digit, Isolate::first);
  text = isolate_pairs(text, is_digit, is_hyphen, Isolate::second);
  return split_words(text);
}

}  // namespace

std::string_view name(BleuTokenizer tokenizer) {
  return tokenizer == BleuTokenizer::none ? "none" : "13a";
}

Tokens bleu_tokens(std::string_view sentence, BleuTokenizer tokenizer) {
  return tokenizer == BleuTokenizer::none ? split_words(sentence) : tokens_13a(sentence);
}

}  // namespace tapestry
