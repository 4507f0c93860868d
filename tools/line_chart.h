#pragma once
// The picture of an experiment: lines and points over two axes.

#include <string>
#include <vector>

namespace tapestry {

/// One line of a chart; a point that is not finite breaks it.
struct Series {
  std::string name;
  std::vector<double> x, y;  // as many of each
  bool dots = false;         // points only
};

struct LineChart {
  std::string title, x_label, y_label;
  std::vector<Series> series;
  bool log_x = false, log_y = false;  // then what is not above 0 is left out
};

/// Charts below each other, as one self-contained SVG file: axes with round numbers, a legend, and colours that differ
/// in lightness too. Errors: a series whose x and y differ in number.
std::string line_charts_svg(const std::vector<LineChart>& charts);

}  // namespace tapestry
