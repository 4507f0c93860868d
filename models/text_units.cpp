#include "models/text_units.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/error.h"
#include "models/utf8.h"

namespace tapestry {
namespace {

constexpr const char *space = "\u2581", *line_end = "\n";

Tokens characters(const std::string& line) {
  require_utf8(line);
  Tokens units;
  for (std::size_t at = 0; at < line.size();) {
    const CodePoint c = decode_utf8(line, at);
    units.push_back(is_space(c.value) ? space : line.substr(at, c.length));
    at += c.length;
  }
  return units;
}

}  // namespace

const std::vector<std::string>& text_unit_names() {
  static const std::vector<std::string> names{"char", "word"};
  return names;
}

Tokens text_units(const std::string& line, const std::string& unit) {
  require_one_of("--unit", unit, text_unit_names());
  return unit == "char" ? characters(line) : tokenize(line);
}

std::string spell(const TokenIds& units, const Vocabulary& vocabulary, const std::string& unit) {
  std::string text;
  Tokens line;
  const auto end_line = [&] {
    text += detokenize(line);
    line.clear();
  };
  for (const std::int32_t id : units) {
    const std::string& token = vocabulary.token(id);
    if (id == Vocabulary::eos) {
      end_line();
      text += '\n';
    } else if (unit == "word") {
      line.push_back(token);
    } else {
      text += token == space ? " " : token;
    }
  }
  end_line();
  return text;
}

UnitText unit_text(const std::vector<std::string>& lines, const std::string& unit, double share,
                   std::size_t min_count) {
  Tokens all;
  for (const std::string& line : lines) {
    const Tokens units = text_units(line, unit);
    all.insert(all.end(), units.begin(), units.end());
    all.emplace_back(line_end);
  }
  const auto held_out = std::max<std::size_t>(2, static_cast<std::size_t>(share * static_cast<double>(all.size())));
  require(all.size() >= held_out + 2,
          "language_model: the text must have at least 4 {}s, ends of lines counted; given {}", unit, all.size());
  const auto cut = all.end() - static_cast<std::ptrdiff_t>(held_out);
  Tokens known;
  std::remove_copy(all.begin(), cut, std::back_inserter(known), line_end);
  const Vocabulary vocabulary({known}, min_count);
  TokenIds ids = vocabulary.ids(all);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] == line_end) ids[i] = Vocabulary::eos;
  const auto end = ids.end() - static_cast<std::ptrdiff_t>(held_out);
  return {vocabulary, {ids.begin(), end}, {end, ids.end()}};
}

double unigram_loss(const UnitText& text) {
  std::vector<double> counts(text.vocabulary.size(), 1);
  for (const std::int32_t id : text.train) ++counts[static_cast<std::size_t>(id)];
  const auto total = static_cast<double>(text.train.size() + counts.size());
  double loss = 0;
  for (std::size_t i = 1; i < text.held_out.size(); ++i)
    loss -= std::log(counts[static_cast<std::size_t>(text.held_out[i])] / total);
  return loss / static_cast<double>(text.held_out.size() - 1);
}

}  // namespace tapestry
