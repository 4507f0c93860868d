#include "models/vocabulary.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/error.h"
#include "core/files.h"
#include "models/text_file.h"
#include "models/utf8.h"

namespace tapestry {

namespace {

constexpr std::array<std::string_view, 4> control_tokens = {"<unk>", "<pad>", "<bos>", "<eos>"};

bool is_control(const std::string& token) {
  return std::find(control_tokens.begin(), control_tokens.end(), token) != control_tokens.end();
}

bool fits_a_line(const std::string& token) {
  const std::vector<std::string> words = split_words(token);
  return words.size() == 1 && words.front() == token && first_malformed(token) == std::string::npos;
}

struct Counted {
  std::string token;
  std::size_t count;
};

/// In the order of first appearance.
std::vector<Counted> count_tokens(const std::vector<Tokens>& sentences) {
  std::vector<Counted> counted;
  std::unordered_map<std::string, std::size_t> index;
  for (const Tokens& sentence : sentences) {
    for (const std::string& token : sentence) {
      const auto [entry, added] = index.try_emplace(token, counted.size());
      if (added) counted.push_back({token, 0});
      ++counted[entry->second].count;
    }
  }
  return counted;
}

}  // namespace

Vocabulary::Vocabulary() : tokens_(control_tokens.begin(), control_tokens.end()) {}

Vocabulary::Vocabulary(const std::vector<Tokens>& sentences, std::size_t min_count) : Vocabulary() {
  std::vector<Counted> counted = count_tokens(sentences);
  std::stable_sort(counted.begin(), counted.end(),
                   [](const Counted& a, const Counted& b) { return a.count > b.count; });
  for (const Counted& entry : counted) {
    require(fits_a_line(entry.token), "vocabulary: a token must be UTF-8 without white space; \"{}\"", entry.token);
    if (entry.count >= min_count && !is_control(entry.token)) insert(entry.token);
  }
}

bool Vocabulary::insert(const std::string& token) {
  const bool added = ids_.try_emplace(token, static_cast<std::int32_t>(tokens_.size())).second;
  if (added) tokens_.push_back(token);
  return added;
}

std::vector<std::int32_t> Vocabulary::ids(const Tokens& tokens) const {
  std::vector<std::int32_t> result;
  result.reserve(tokens.size());
  for (const std::string& token : tokens) {
    const auto entry = ids_.find(token);
    result.push_back(entry == ids_.end() ? unk : entry->second);
  }
  return result;
}

const std::string& Vocabulary::token(std::int32_t id) const {
  require(id >= 0 && static_cast<std::size_t>(id) < size(), "vocabulary: id must be in [0, {}); {}", size(), id);
  return tokens_[static_cast<std::size_t>(id)];
}

Tokens Vocabulary::tokens(const std::vector<std::int32_t>& ids) const {
  Tokens tokens;
  for (const std::int32_t id : ids) tokens.push_back(token(id));
  return tokens;
}

void Vocabulary::save(const std::string& path) const {
  std::string text;
  for (const std::string& token : tokens_) text += token + '\n';
  write_atomically(path, text);
}

Vocabulary Vocabulary::load(const std::string& path) {
  const std::vector<std::string> lines = read_lines(path);
  Vocabulary vocabulary;
  for (std::size_t i = 0; i < std::max(lines.size(), control_tokens.size()); ++i) {
    const std::string line = i < lines.size() ? lines[i] : "";
    if (i < control_tokens.size()) {
      require(line == control_tokens[i], "{}:{}: line must be the control token {}; \"{}\"", path, i + 1,
              control_tokens[i], line);
    } else {
      require(fits_a_line(line), "{}:{}: line must be one token without white space; \"{}\"", path, i + 1, line);
      require(!is_control(line) && vocabulary.insert(line), "{}:{}: tokens must differ; \"{}\" is there already", path,
              i + 1, line);
    }
  }
  return vocabulary;
}

}  // namespace tapestry
