#include "tools/line_chart.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/error.h"

using namespace tapestry;

TEST_SUITE_BEGIN("fast");

TEST_CASE("line chart: a line through its points, one break, names escaped") {
  const double nan = std::nan("");
  const std::string svg = line_charts_svg({{"loss < 1", "updates", "nats", {{"a & b", {0, 1, 2, 3}, {1, 3, nan, 2}}}}});
  CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" "));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(svg.find("loss &lt; 1") != std::string::npos);
  CHECK(svg.find(">a &amp; b</text>") != std::string::npos);
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(svg.find(">-0</text>") == std::string::npos);
  // x: 0 to 3 with a margin of 4 % on 460 pixels from 76; y: 1 to 3 on 260 pixels, upwards from 304.
  CHECK(svg.find("d=\" M93.0 294.4 L235.0 53.6 M519.0 174.0\"") != std::string::npos);
}

TEST_CASE(
    "line chart: equal factors are equal distances on a logarithmic axis, which leaves out what is not positive") {
  const std::string svg =
      line_charts_svg({{"time", "n", "s", {{"t", {0, 1, 10, 100}, {5, 1, 10, 100}, true}}, true, true}});
  CHECK(svg.find("cx=\"93.0\" cy=\"294.4\"") != std::string::npos);
  CHECK(svg.find("cx=\"306.0\" cy=\"174.0\"") != std::string::npos);
  CHECK(svg.find("cx=\"519.0\" cy=\"53.6\"") != std::string::npos);
  CHECK(svg.find(">10</text>") != std::string::npos);
}

TEST_CASE("line chart: an empty chart and one of a single point are charts; unequal numbers are an error") {
  CHECK(line_charts_svg({{"none", "x", "y", {}}}).ends_with("</svg>\n"));
  CHECK(line_charts_svg({{"one", "x", "y", {{"a", {2}, {7}}}}}).find("M306.0 174.0") != std::string::npos);
  CHECK_THROWS_WITH_AS(line_charts_svg({{"bad", "x", "y", {{"a", {1, 2}, {7}}}}}),
                       "line chart: a must have as many x as y; given 2 and 1", Error);
}
