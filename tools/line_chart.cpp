#include "tools/line_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "tools/heat_map.h"

namespace tapestry {
namespace {

// All lengths in pixels.
constexpr double plot_width = 460, plot_height = 260, left = 76, top = 44, legend_width = 190, below = 64;
constexpr double chart_width = left + plot_width + legend_width, chart_height = top + plot_height + below;
constexpr std::array<const char*, 8> colours{"#0a2d58", "#c2571a", "#3f8cbe", "#6b3d7c",
                                             "#2f7d4f", "#d29a1e", "#8a95a1", "#b0305c"};

constexpr const char* style =
    "<style>"
    "text{font:12px \"Helvetica Neue\",Arial,\"Noto Sans\",\"DejaVu Sans\",sans-serif;fill:#1d2733}"
    ".title{font-size:16px;font-weight:600}"
    ".tick{fill:#5b6875}"
    ".grid{stroke:#e3e7ec}"
    ".line{fill:none;stroke-width:2}"
    "</style>\n";

// A range of numbers laid on `length` pixels.
class Axis {
 public:
  Axis(bool logarithmic, double length) : logarithmic_(logarithmic), length_(length) {}

  bool shows(double value) const { return std::isfinite(value) && (!logarithmic_ || value > 0); }
  void include(double value) {
    low_ = std::min(low_, scaled(value));
    high_ = std::max(high_, scaled(value));
  }
  /// Makes room for a range without extent, and fixes where the ticks stand.
  void finish() {
    if (low_ > high_) low_ = 0, high_ = 1;
    if (high_ - low_ < 1e-9 * std::max(1.0, std::abs(high_))) low_ -= 0.5, high_ += 0.5;
    const double margin = 0.04 * (high_ - low_);
    low_ -= margin;
    high_ += margin;
    // The step of about six ticks: 1, 2 or 5 times a power of ten.
    const double rough = (high_ - low_) / 6, power = std::pow(10, std::floor(std::log10(rough)));
    const double share = rough / power;
    step_ = power * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10);
  }

  double place(double value) const { return (scaled(value) - low_) / (high_ - low_) * length_; }
  std::vector<double> ticks() const {
    std::vector<double> values;
    for (double tick = std::ceil(low_ / step_); tick * step_ <= high_; ++tick)
      values.push_back(logarithmic_ ? std::pow(10, tick * step_) : tick * step_ + 0.0);  // -0 is 0
    return values;
  }

 private:
  double scaled(double value) const { return logarithmic_ ? std::log10(value) : value; }

  bool logarithmic_;
  double length_;
  double low_ = std::numeric_limits<double>::infinity(), high_ = -low_, step_ = 1;
};

std::string text(double x, double y, const char* attributes, const std::string& words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes, escape_xml(words));
}

std::string axes(const LineChart& chart, const Axis& x, const Axis& y) {
  std::string svg;
  const double bottom = top + plot_height;
  for (const double tick : x.ticks()) {
    const double at = left + x.place(tick);
    svg += fmt::format("<path class=\"grid\" d=\"M{0:.1f} {1} V{2}\"/>\n", at, top, bottom);
    svg += text(at, bottom + 18, "class=\"tick\" text-anchor=\"middle\"", fmt::format("{:.3g}", tick));
  }
  for (const double tick : y.ticks()) {
    const double at = bottom - y.place(tick);
    svg += fmt::format("<path class=\"grid\" d=\"M{1} {0:.1f} H{2}\"/>\n", at, left, left + plot_width);
    svg += text(left - 8, at + 4, "class=\"tick\" text-anchor=\"end\"", fmt::format("{:.3g}", tick));
  }
  svg += text(0, 20, "class=\"title\"", chart.title);
  svg += text(left + plot_width / 2, bottom + 42, "text-anchor=\"middle\"", chart.x_label);
  return svg + text(left, top - 10, "text-anchor=\"end\"", chart.y_label);
}

std::string draw(const Series& series, const char* colour, const Axis& x, const Axis& y) {
  std::string path, dots;
  bool pen_down = false;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const bool shown = x.shows(series.x[i]) && y.shows(series.y[i]);
    if (shown) {
      const double across = left + x.place(series.x[i]), down = top + plot_height - y.place(series.y[i]);
      path += fmt::format("{}{:.1f} {:.1f}", pen_down ? " L" : " M", across, down);
      dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", across, down, colour);
    }
    pen_down = shown;
  }
  const bool few = series.x.size() <= 20;
  if (series.dots) return dots;
  return fmt::format("<path class=\"line\" stroke=\"{}\" d=\"{}\"/>\n", colour, path) + (few ? dots : "");
}

std::string chart_svg(const LineChart& chart) {
  Axis x(chart.log_x, plot_width), y(chart.log_y, plot_height);
  for (const Series& series : chart.series) {
    require(series.x.size() == series.y.size(), "line chart: {} must have as many x as y; given {} and {}", series.name,
            series.x.size(), series.y.size());
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!x.shows(series.x[i]) || !y.shows(series.y[i])) continue;
      x.include(series.x[i]);
      y.include(series.y[i]);
    }
  }
  x.finish();
  y.finish();
  std::string svg = axes(chart, x, y);
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const char* const colour = colours[i % colours.size()];
    const double beside = left + plot_width + 16, down = top + 12 + 20 * static_cast<double>(i);
    svg += draw(chart.series[i], colour, x, y);
    svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"14\" height=\"4\" fill=\"{}\"/>\n", beside, down - 6,
                       colour);
    svg += text(beside + 20, down, "", chart.series[i].name);
  }
  return svg;
}

}  // namespace

std::string line_charts_svg(const std::vector<LineChart>& charts) {
  constexpr double margin = 24;
  const double height = 2 * margin + static_cast<double>(charts.size()) * chart_height;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
      "{1:.0f}\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{2}",
      chart_width + 2 * margin, height, style);
  for (std::size_t i = 0; i < charts.size(); ++i)
    svg += fmt::format("<g transform=\"translate({} {})\">\n{}</g>\n", margin,
                       margin + static_cast<double>(i) * chart_height, chart_svg(charts[i]));
  return svg + "</svg>\n";
}

}  // namespace tapestry
