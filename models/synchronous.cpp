#include "models/synchronous.h"

#include <algorithm>
#include <map>

#include "core/error.h"

namespace tapestry {

namespace {

std::vector<int> united(const Token& a, const Token& b) {
  std::vector<int> marks = a.marks;
  marks.insert(marks.end(), b.marks.begin(), b.marks.end());
  return marks;
}

bool contains(std::initializer_list<std::string_view> list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

Side elide(const Side& side) {
  Side out;
  for (const Token& token : side) {
    const bool joins = !out.empty() && contains({"le", "la", "je", "ne", "de", "que"}, out.back().text) &&
                       starts_with_vowel(token.text);
    if (!joins) {
      out.push_back(token);
      continue;
    }
    Token& before = out.back();
    before.text.back() = '\'';
    before = {before.text + token.text, united(before, token)};
  }
  return out;
}

using Contractions = std::map<std::pair<std::string, std::string>, std::string>;

Side contract(const Side& side, const Contractions& contractions) {
  Side out;
  for (const Token& token : side) {
    const auto found = out.empty() ? contractions.end() : contractions.find({out.back().text, token.text});
    if (found == contractions.end())
      out.push_back(token);
    else
      out.back() = {found->second, united(out.back(), token)};
  }
  return out;
}

bool linked(const Token& a, const Token& b) {
  return std::find_first_of(a.marks.begin(), a.marks.end(), b.marks.begin(), b.marks.end()) != a.marks.end();
}

std::vector<std::string> texts(const Side& side) {
  std::vector<std::string> out;
  for (const Token& token : side) out.push_back(token.text);
  return out;
}

}  // namespace

Side words(std::string_view text, const std::vector<int>& marks) {
  Side side;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) side.push_back({std::string(text.substr(0, end)), marks});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return side;
}

Side with_role(std::string_view role, Side english) {
  for (Token& token : english)
    if (token.role.empty()) token.role = role;
  return english;
}

Phrase with_role(std::string_view role, Phrase phrase) {
  return {with_role(role, std::move(phrase.english)), std::move(phrase.french)};
}

const std::vector<std::string>& grammatical_roles() {
  static const std::vector<std::string> roles{"adjective",   "adverb",   "auxiliary", "complement", "conjunction",
                                              "determiner",  "negation", "object",    "other",      "preposition",
                                              "punctuation", "question", "relative",  "subject",    "verb"};
  return roles;
}

Phrase Derivation::phrase(std::string_view english, std::string_view french) {
  Phrase phrase{words(english, {}), words(french, {})};
  const int base = last_mark_ + 1;  // digit d stands for mark base + d, no digit for base
  for (Side* side : {&phrase.english, &phrase.french})
    for (Token& token : *side) {
      const std::size_t slash = token.text.find('/');
      if (slash == std::string::npos) {
        token.marks = {base};
      } else {
        for (char digit : token.text.substr(slash + 1)) token.marks.push_back(base + digit - '0');
        token.text.resize(slash);
      }
    }
  last_mark_ += 10;
  return phrase;
}

void Derivation::combine(std::string_view first, std::string_view second) {
  combinations_.push_back(std::string(first) + " " + std::string(second));
}

AlignedPair Derivation::finish(const Phrase& sentence) const {
  const Side english = join_english(sentence.english), french = join_french(sentence.french);
  AlignedPair pair{texts(english), texts(french), {}, combinations_};
  for (const Token& token : english) pair.roles.emplace_back(token.role.empty() ? "other" : token.role);
  for (std::size_t i = 0; i < english.size(); ++i)
    for (std::size_t j = 0; j < french.size(); ++j)
      if (linked(english[i], french[j])) pair.alignment.emplace_back(static_cast<int>(i), static_cast<int>(j));
  return pair;
}

Side join_english(const Side& side) {
  Side out;
  for (const Token& token : side) {
    if (!out.empty() && out.back().text == "a" && contains({"a", "e", "i", "o", "u"}, token.text.substr(0, 1)))
      out.back().text = "an";
    if (!out.empty() && out.back().text == "can" && token.text == "not")
      out.back() = {"cannot", united(out.back(), token), out.back().role};
    else
      out.push_back(token);
  }
  return out;
}

Side join_french(const Side& side) {
  static const Contractions absorbed = {{{"de", "des"}, "de"}, {{"de", "de"}, "de"}};
  static const Contractions contracted = {
      {{"de", "le"}, "du"}, {{"de", "les"}, "des"}, {{"à", "le"}, "au"}, {{"à", "les"}, "aux"}};
  return contract(elide(contract(side, absorbed)), contracted);
}

bool starts_with_vowel(std::string_view french) {
  if (french.starts_with("hibou")) return false;
  return contains({"a", "e", "h", "i", "o", "u", "y"}, french.substr(0, 1)) ||
         contains({"à", "â", "é", "ê", "î", "ô", "œ"}, french.substr(0, 2));
}

}  // namespace tapestry
