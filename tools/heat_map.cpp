#include "tools/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "models/utf8.h"
#include "tools/table.h"

namespace tapestry {
namespace {

// All lengths in pixels.
constexpr double cell = 36, gap = 2, margin = 28, header = 64, between = 36, font = 14;
constexpr double slant = 0.7071;  // sine and cosine of the 45 degrees by which the upper labels lean
constexpr std::size_t longest_label = 24;

struct Colour {
  double red, green, blue;
};

// From paper to ink, evenly darker at each step, so that the shade reads as an amount also without colour.
constexpr std::array<Colour, 6> ramp{
    {{243, 245, 248}, {206, 222, 238}, {146, 185, 219}, {79, 140, 190}, {32, 92, 148}, {10, 45, 88}}};

std::string shade(double weight) {
  const double place = std::clamp(weight, 0.0, 1.0) * static_cast<double>(ramp.size() - 1);
  const auto lower = std::min(static_cast<std::size_t>(place), ramp.size() - 2);
  const double share = place - static_cast<double>(lower);
  const Colour &a = ramp[lower], &b = ramp[lower + 1];
  const auto mix = [&](double x, double y) { return static_cast<int>(std::lround(x + share * (y - x))); };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue));
}

std::string shortened(const std::string& token) {
  if (display_width(token) <= longest_label) return token;
  std::string text;
  for (std::size_t at = 0; display_width(text) < longest_label - 1;) {
    const CodePoint c = decode_utf8(token, at);
    append_utf8(text, c.value);
    at += c.length;
  }
  return text + "…";
}

// A generous guess, for the reader's font is unknown: a sans-serif letter takes 0.6 of the font size, a CJK one all.
double label_width(const std::string& token) {
  double width = 0;
  const std::string text = shortened(token);
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    width += font * (is_cjk(c.value) ? 1.0 : 0.62);
    at += c.length;
  }
  return width;
}

double widest(const Tokens& tokens) {
  double width = 0;
  for (const std::string& token : tokens) width = std::max(width, label_width(token));
  return width;
}

/// A control token is not a word of the sentence, and looks so.
std::string label_class(const std::string& token) {
  return token.size() > 2 && token.front() == '<' && token.back() == '>' ? " class=\"control\"" : "";
}

constexpr const char* style =
    "<style>"
    "text{font:14px \"Helvetica Neue\",Arial,\"Noto Sans\",\"DejaVu Sans\",\"Noto Sans CJK SC\",\"PingFang SC\","
    "\"Microsoft YaHei\",sans-serif;fill:#1d2733}"
    ".title{font-size:16px;font-weight:600}"
    ".small{font-size:11.5px;fill:#5b6875}"
    ".control{fill:#8a95a1;font-style:italic}"
    ".n{font-size:11.5px;text-anchor:middle;fill:#33475b}"
    ".w{fill:#fff}"
    "</style>\n";

constexpr double legend_left = margin + 120, letter = 5.85;

std::string header_of(const std::string& title, const std::string& legend) {
  std::string text = "<defs><linearGradient id=\"ramp\">";
  for (std::size_t i = 0; i < ramp.size(); ++i) {
    const double place = static_cast<double>(i) / static_cast<double>(ramp.size() - 1);
    text += fmt::format("<stop offset=\"{:.2f}\" stop-color=\"{}\"/>", place, shade(place));
  }
  text += "</linearGradient></defs>\n";
  text += fmt::format("<text class=\"title\" x=\"{}\" y=\"{}\">{}</text>\n", margin, margin + 8, escape_xml(title));
  text += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"110\" height=\"10\" rx=\"2\" fill=\"url(#ramp)\"/>\n", margin,
                      margin + 20);
  return text + fmt::format("<text class=\"small\" x=\"{}\" y=\"{}\">{}</text>\n", legend_left, margin + 29,
                            escape_xml(legend));
}

}  // namespace

std::string escape_xml(std::string_view text) {
  std::string escaped;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    at += c.length;
    switch (c.value) {
      case U'&':
        escaped += "&amp;";
        break;
      case U'<':
        escaped += "&lt;";
        break;
      case U'>':
        escaped += "&gt;";
        break;
      case U'"':
        escaped += "&quot;";
        break;
      case U'\'':
        escaped += "&#39;";
        break;
      default: {
        const bool control = c.value < 0x20 && c.value != U'\t' && c.value != U'\n' && c.value != U'\r';
        append_utf8(escaped, control || c.value == 0xFFFE || c.value == 0xFFFF ? U'\uFFFD' : c.value);
      }
    }
  }
  return escaped;
}

void HeatMapSheet::draw_column_labels(const HeatMap& map, double left, double bottom) {
  for (std::size_t i = 0; i < map.columns.size(); ++i) {
    const std::string& token = map.columns[i];
    const double x = left + (static_cast<double>(i) + 0.5) * cell + 3;
    body_ += fmt::format("<text transform=\"translate({:.1f} {:.1f}) rotate(-45)\"{}>{}</text>\n", x, bottom,
                         label_class(token), escape_xml(shortened(token)));
  }
}

void HeatMapSheet::draw_row(const HeatMap& map, Index row, double left, double top) {
  const std::string& token = map.rows[static_cast<std::size_t>(row)];
  const double middle = top + cell / 2 + 5;
  body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\"{}>{}</text>\n", left - 8, middle,
                       label_class(token), escape_xml(shortened(token)));
  const Index columns = map.weights.size(1);
  // The paper under the whole row; cells too light to be told from it are left out.
  body_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"/>\n", left, top,
                       static_cast<double>(columns) * cell - gap, cell - gap, shade(0));
  for (Index column = 0; column < columns; ++column) {
    const double weight = map.weights.at(row * columns + column), x = left + static_cast<double>(column) * cell;
    const long percent = std::lround(100 * weight);
    if (percent < 1) continue;
    body_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\" rx=\"3\" fill=\"{}\"/>"
        "<text class=\"n{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
        x, top, cell - gap, cell - gap, shade(weight), weight > 0.5 ? " w" : "", x + (cell - gap) / 2, middle - 1,
        percent);
  }
}

void HeatMapSheet::add(const HeatMap& map) {
  const auto rows = static_cast<Index>(map.rows.size()), columns = static_cast<Index>(map.columns.size());
  require_shape("heat map", "weights", map.weights, {rows, columns});
  const double left = margin + widest(map.rows) + 8;
  const double top = header + between + height_ + slant * (widest(map.columns) + font) + 8;
  draw_column_labels(map, left, top - 8);
  for (Index row = 0; row < rows; ++row) draw_row(map, row, left, top + static_cast<double>(row) * cell);
  const double lean = map.columns.empty() ? 0 : slant * (widest(map.columns) + font);
  width_ = std::max(width_, left + static_cast<double>(columns) * cell + lean);
  height_ = top - header + static_cast<double>(rows) * cell;
}

std::string HeatMapSheet::svg() const {
  const double width = std::max(width_, legend_left + letter * static_cast<double>(legend_.size())) + margin,
               height = header + height_ + margin;
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
             "viewBox=\"0 0 {0:.0f} {1:.0f}\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
             width, height) +
         style + header_of(title_, legend_) + body_ + "</svg>\n";
}

}  // namespace tapestry
