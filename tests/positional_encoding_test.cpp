#include "nn/positional_encoding.h"

#include <doctest/doctest.h>

#include <cmath>
#include <thread>

#include "tools/position_tables.h"

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

  TEST_CASE("that rotation is one matrix, and the product of two positions depends on their distance alone") {
    const Index width = 12, count = 50;
    const Tensor table = PositionalEncoding(width, DType::f64)(0, count);
    for (const Index distance : {0, 1, 13}) {
      const Tensor map = position_rotation(width, distance);
      for (Index t = 0; t + distance < count; ++t)
        for (Index i = 0; i < width; ++i) {
          double sum = 0;
          for (Index j = 0; j < width; ++j) sum += map.at(i * width + j) * table.at(t * width + j);
          CHECK(std::abs(sum - table.at((t + distance) * width + i)) <= 1e-13);
        }
    }
    const Tensor products = row_products(table);
    for (Index a = 0; a < count; ++a)
      for (Index b = a; b < count; ++b) {
        CHECK(std::abs(products.at(a * count + b) - products.at(b - a)) <= 1e-13);
        CHECK(products.at(a * count + b) <= 1 + 1e-13);
      }
    CHECK(products.at(0) == doctest::Approx(1).epsilon(1e-14));
  }

  TEST_CASE("frequencies fall by one ratio from pair to pair, as those of the bits of a counter by two") {
    const Index width = 26;
    const Tensor first = PositionalEncoding(width, DType::f64)(1, 1);
    const auto frequency = [&](Index pair) { return std::atan2(first.at(2 * pair), first.at(2 * pair + 1)); };
    CHECK(frequency(0) == doctest::Approx(1).epsilon(1e-14));
    for (Index pair = 0; pair + 1 < width / 2; ++pair)
      CHECK(frequency(pair) / frequency(pair + 1) == doctest::Approx(std::pow(10000, 2.0 / width)).epsilon(1e-10));

    const Tensor codes = binary_codes(64, 6);
    for (Index bit = 0; bit < 6; ++bit) {
      Index changes = 0;
      for (Index p = 1; p < 64; ++p) changes += codes.at(p * 6 + bit) != codes.at((p - 1) * 6 + bit) ? 1 : 0;
      CHECK(changes == (64 >> bit) - 1);
    }
    CHECK(codes.rows(37, 38).values() == std::vector<double>{1, 0, 1, 0, 0, 1});
  }

  TEST_CASE("positions are added to embeddings in one of four ways, from any position on") {
    ParameterStore store(DType::f64, 3);
    const Var x = Tensor::full({2, 3, 4}, 10, DType::f64);
    const auto added = [&](const std::string& kind, Index first) {
      const Positions positions(Scope(store) / (kind + std::to_string(first)), 4, {kind, 8});
      const Tensor whole = positions(x, first).value();
      for (Index t = 0; t < 3; ++t) {  // one position of each row
        const Tensor one = positions(Var(Tensor::full({2, 4}, 10, DType::f64)), first + t).value();
        for (Index d = 0; d < 4; ++d) {
          CHECK(one.at(d) == whole.at(t * 4 + d));
          CHECK(one.at(4 + d) == whole.at(12 + t * 4 + d));
        }
      }
      return whole;
    };
    const Tensor table = PositionalEncoding(4, DType::f64)(2, 3);
    const Tensor sinusoidal = added("sinusoidal", 2), learned = added("learned", 2), integers = added("integers", 2);
    const Tensor rows = store["learned2.weight"].value();
    CHECK(rows.shape() == Shape{8, 4});
    for (Index i = 0; i < 12; ++i) {
      CHECK(sinusoidal.at(i) == 10 + table.at(i));
      CHECK(learned.at(i) == 10 + rows.at(8 + i));
      CHECK(integers.at(i) == static_cast<double>(10 + 2 + i / 4));
    }
    CHECK(added("none", 2).values() == x.value().values());
  }

  TEST_CASE("positions: unknown kinds, tables without a row, and what lies beyond a table are refused") {
    ParameterStore store(DType::f64, 3);
    CHECK_THROWS_WITH_AS(Positions(Scope(store), 4, {"rotary"}),
                         "positions: must be one of sinusoidal, learned, none, integers; given rotary", UsageError);
    CHECK_THROWS_WITH_AS(Positions(Scope(store), 4, {"learned", 0}),
                         "positions: a learned table needs a row at least; given 0", Error);
    CHECK_THROWS_AS(Positions(Scope(store), 3), Error);
    CHECK_NOTHROW(Positions(Scope(store), 3, {"none"}));
    const Positions positions(Scope(store), 4, {"learned", 5});
    CHECK(positions.most() == 5);
    CHECK_NOTHROW(positions(Tensor::zeros({1, 3, 4}, DType::f64), 2));
    CHECK_THROWS_WITH_AS(positions(Tensor::zeros({1, 3, 4}, DType::f64), 3),
                         "positions: there must be a row of the learned table for each; given 5 rows and 6 positions",
                         Error);
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
