#include "tools/heat_map.h"

#include <doctest/doctest.h>

using namespace tapestry;

TEST_SUITE_BEGIN("fast");

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t times = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++times;
  return times;
}

}  // namespace

TEST_CASE("heat map: text that means something to XML is escaped, and what XML cannot hold is replaced") {
  CHECK(escape_xml("<a href=\"x\">'&'</a>") == "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
  CHECK(escape_xml("l'été 我") == "l&#39;été 我");
  CHECK(escape_xml(std::string("a\0b\x1b", 4)) == "a\uFFFDb\uFFFD");
  CHECK(escape_xml("a\xff") == "a\uFFFD");
  CHECK(escape_xml("\uFFFE\uFFFF") == "\uFFFD\uFFFD");
}

TEST_CASE("heat map: tokens on both axes, a number for each weight that shows") {
  HeatMapSheet sheet;
  sheet.add({{"我", "<eos>"},
             {"<script>", "b", "<eos>"},
             Tensor::from({0.75, 0.25, 0, 0.004, 0.016, 0.98}, {2, 3}, DType::f32)});
  sheet.add({{"c"}, {"d"}, Tensor::from({1}, {1, 1}, DType::f64)});
  const std::string svg = sheet.svg();
  CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" "));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(count(svg, "<script") == 0);
  CHECK(count(svg, ">&lt;script&gt;</text>") == 1);
  CHECK(count(svg, ">我</text>") == 1);
  CHECK(count(svg, " class=\"control\">&lt;eos&gt;</text>") == 2);
  for (const char* percent : {">75</text>", ">25</text>", ">2</text>", ">98</text>", ">100</text>"})
    CHECK(count(svg, percent) == 1);
  CHECK(count(svg, "<text class=\"n") == 5);      // 0 and 0.004 are left white
  CHECK(count(svg, "<text class=\"n w\"") == 3);  // light on dark
}

TEST_CASE("heat map: the shade grows with the weight") {
  const auto fill = [](double weight) {
    HeatMapSheet sheet;
    sheet.add({{"a"}, {"b"}, Tensor::from({weight}, {1, 1}, DType::f32)});
    const std::string svg = sheet.svg();
    return svg.substr(svg.rfind("fill=\"#") + 7, 6);
  };
  CHECK(fill(1) == "0a2d58");
  CHECK(fill(0) == "f3f5f8");
  for (double weight = 0; weight < 0.95; weight += 0.1) CHECK(fill(weight + 0.05) < fill(weight));
}

TEST_CASE("heat map: a long token is cut, and weights must fit the tokens") {
  HeatMapSheet sheet;
  sheet.add({{"a"}, {std::string(100, 'x')}, Tensor::from({1}, {1, 1}, DType::f32)});
  CHECK(HeatMapSheet("a", "Across: x < 1.").svg().find(">Across: x &lt; 1.</text>") != std::string::npos);
  CHECK(sheet.svg().find(">" + std::string(23, 'x') + "…</text>") != std::string::npos);
  CHECK_THROWS_WITH_AS(sheet.add({{"a"}, {"b", "c"}, Tensor::from({1, 0}, {2, 1}, DType::f32)}),
                       "heat map: weights must be [1, 2]; given [2, 1]", Error);
}

TEST_SUITE_END();
