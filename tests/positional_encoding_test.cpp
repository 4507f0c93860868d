#include "nn/positional_encoding.h"

#include <doctest/doctest.h>

#include <cmath>
#include <thread>

using namespace tapestry;

TEST_SUITE("fast") {
  TEST_CASE("positions are sines and cosines of falling frequencies") {
    const Tensor table = PositionalEncoding(4, DType::f64)(0, 3);
    const std::vector<double> wanted{0,
                                     1,
                                     0,
                                     1,
                                     std::sin(1),
                                     std::cos(1),
                                     std::sin(0.01),
                                     std::cos(0.01),
                                     std::sin(2),
                                     std::cos(2),
                                     std::sin(0.02),
                                     std::cos(0.02)};
    CHECK(table.shape() == Shape{3, 4});
    for (Index i = 0; i < table.numel(); ++i)
      CHECK(table.at(i) == doctest::Approx(wanted[static_cast<std::size_t>(i)]).epsilon(1e-15));
    const Tensor narrow = PositionalEncoding(4, DType::f32)(0, 3);
    for (Index i = 0; i < table.numel(); ++i)
      CHECK(narrow.at(i) == static_cast<double>(static_cast<float>(table.at(i))));
  }

  TEST_CASE("the table grows on demand, and what was handed out stays") {
    const PositionalEncoding positions(6, DType::f64);
    const Tensor first = positions(0, 5);
    const std::vector<double> before = first.values();
    const Tensor far = positions(4999, 2);
    CHECK(far.at(0) == doctest::Approx(std::sin(4999)).epsilon(1e-12));
    CHECK(far.at(6 + 2) == doctest::Approx(std::sin(5000 / std::pow(10000, 1.0 / 3))).epsilon(1e-12));
    CHECK(first.values() == before);
    CHECK(positions(0, 5).values() == before);
    CHECK(positions(2, 3).values() == std::vector<double>(before.begin() + 12, before.end()));
  }

  TEST_CASE("shards may ask side by side") {
    const PositionalEncoding positions(8, DType::f64), alone(8, DType::f64);
    std::vector<std::thread> threads;
    std::vector<int> right(4);
    for (std::size_t i = 0; i < right.size(); ++i)
      threads.emplace_back([&, i] {
        for (Index length = 1; length < 400; length += 7)
          right[i] += positions(length, 3).at(0) == std::sin(static_cast<double>(length)) ? 1 : 0;
      });
    for (std::thread& thread : threads) thread.join();
    for (const int count : right) CHECK(count == 57);
  }

  TEST_CASE("a fixed distance is one rotation, whatever the position") {
    const Index width = 10;
    const Tensor table = PositionalEncoding(width, DType::f64)(0, 200);
    for (const Index distance : {1, 7, 60})
      for (Index position = 0; position + distance < 200; position += 11)
        for (Index i = 0; i < width; i += 2) {
          const double angle = static_cast<double>(distance) / std::pow(10000, static_cast<double>(i) / width);
          const double s = table.at(position * width + i), c = table.at(position * width + i + 1);
          const Index there = (position + distance) * width + i;
          CHECK(std::abs(table.at(there) - (std::cos(angle) * s + std::sin(angle) * c)) <= 1e-13);
          CHECK(std::abs(table.at(there + 1) - (std::cos(angle) * c - std::sin(angle) * s)) <= 1e-13);
        }
  }

  TEST_CASE("an odd width is refused with the reason") {
    for (const Index width : {Index{5}, Index{1}, Index{0}})
      CHECK_THROWS_WITH_AS(PositionalEncoding(width, DType::f32),
                           fmt::format("positional_encoding: the width must be even, for sines and cosines come in "
                                       "pairs; given {}",
                                       width)
                               .c_str(),
                           Error);
  }
}
