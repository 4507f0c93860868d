#include "autograd/dropout.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <vector>

#include "autograd/tape.h"
#include "core/dropout.h"

using namespace tapestry;
using namespace tapestry::core;

namespace {

bool kept(const BitMask& mask, Index row, Index feature) {
  return (mask.row(row)[feature / 8] >> (feature % 8) & 1) != 0;
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("a mask bit is the threshold of its 16 bits of the documented block") {
    const DropoutKey key{11, 5, 7, 3, 2};
    const double p = 0.3;
    const BitMask mask = dropout_mask(3, 4, 21, p, key);
    for (std::uint32_t b = 0; b < 3; ++b) {
      for (std::uint32_t t = 0; t < 4; ++t) {
        for (std::uint32_t f = 0; f < 21; ++f) {
          const PhiloxBlock block = philox(PhiloxBlock{f / 8, 2 + t, 3 + b, 7}, philox_key(11, 5));
          const std::uint32_t bits = block[f % 8 / 2] >> (f % 2 * 16) & 0xFFFF;
          REQUIRE(kept(mask, b * 4 + t, f) == (bits >= std::lround(p * 65536)));
        }
      }
    }
  }

  TEST_CASE("a mask does not depend on how sentences and positions are cut into calls") {
    const DropoutKey key{1, 2, 3, 0, 0};
    const BitMask whole = dropout_mask(5, 6, 13, 0.5, key), longer = dropout_mask(5, 9, 13, 0.5, key);
    for (std::uint32_t b = 0; b < 5; ++b) {
      for (std::uint32_t t = 0; t < 6; ++t) {
        DropoutKey at = key;
        at.first_sentence = b;
        at.first_position = t;
        const BitMask one = dropout_mask(1, 1, 13, 0.5, at);
        for (Index f = 0; f < 13; ++f) {
          REQUIRE(kept(whole, b * 6 + t, f) == kept(one, 0, f));
          REQUIRE(kept(whole, b * 6 + t, f) == kept(longer, b * 9 + t, f));
        }
      }
    }
  }

  TEST_CASE("a mask of some features is that part of the whole one") {
    const DropoutKey key{1, 2, 3, 4, 5};
    const std::vector<Index> first{0, 16, 8, 40};
    const BitMask whole = dropout_mask(3, 4, 60, 0.5, key), part = dropout_mask(3, 4, 13, 0.5, key, first);
    for (Index row = 0; row < 12; ++row)
      for (Index f = 0; f < 13; ++f)
        REQUIRE(kept(part, row, f) == kept(whole, row, first[static_cast<std::size_t>(row % 4)] + f));
  }

  TEST_CASE("masks keep the asked share, and differ by seed, stream and update") {
    const BitMask mask = dropout_mask(50, 20, 100, 0.1, {1, 1, 1, 0, 0});
    const std::vector<DropoutKey> others = {{2, 1, 1, 0, 0}, {1, 2, 1, 0, 0}, {1, 1, 2, 0, 0}};
    Index count = 0;
    std::array<Index, 3> same{};
    for (std::size_t o = 0; o < 3; ++o) {
      const BitMask other = dropout_mask(50, 20, 100, 0.1, others[o]);
      for (Index r = 0; r < 1000; ++r)
        for (Index f = 0; f < 100; ++f) same[o] += kept(mask, r, f) == kept(other, r, f);
    }
    for (Index r = 0; r < 1000; ++r)
      for (Index f = 0; f < 100; ++f) count += kept(mask, r, f);
    // Bounds: five standard deviations of a binomial of 100,000 elements.
    CHECK(std::abs(count / 1e5 - 0.9) < 5 * std::sqrt(0.09 / 1e5));
    for (Index s : same) CHECK(std::abs(s / 1e5 - 0.82) < 5 * std::sqrt(0.82 * 0.18 / 1e5));
  }

  TEST_CASE("p = 0 keeps all, p = 1 none, and other values are refused") {
    const BitMask all = dropout_mask(2, 3, 5, 0, {}), none = dropout_mask(2, 3, 5, 1, {});
    for (Index r = 0; r < 6; ++r)
      for (Index f = 0; f < 5; ++f) CHECK((kept(all, r, f) && !kept(none, r, f)));
    CHECK_THROWS_WITH(dropout_mask(2, 3, 5, 1.5, {}), "dropout: p must lie in [0, 1]; given 1.5");
    CHECK_THROWS_WITH(dropout_mask(2, 3, 5, std::nan(""), {}), "dropout: p must lie in [0, 1]; given nan");
  }

  TEST_CASE("dropout scales what it keeps, and the gradient is the same mask") {
    const Shape shape{3, 4, 11};
    std::vector<double> values(132);
    Random random(1);
    for (double& v : values) v = random.uniform(1, 2);
    for (DType dtype : {DType::f32, DType::f64}) {
      const Var x = watch(Tensor::from(values, shape, dtype));
      Tape tape;
      const DropoutKey key{1, 2, 3, 4, 0};
      const Var y = dropout(x, 0.4, key);
      const BitMask mask = dropout_mask(3, 4, 11, 0.4, key);
      const std::array cotangent{Tensor::full(shape, 3, dtype)};
      const Tensor dx = tape.backward(std::array{y}, cotangent)[x];
      for (Index i = 0; i < 132; ++i) {
        const double scale = kept(mask, i / 11, i % 11) ? 1 / 0.6 : 0;
        CHECK(y.value().at(i) == doctest::Approx(x.value().at(i) * scale).epsilon(1e-6));
        CHECK(dx.at(i) == doctest::Approx(3 * scale).epsilon(1e-6));
      }
    }
  }

  TEST_CASE("a step [B,F] of dropout is that step of the sequence [B,T,F]") {
    const Tensor ones = Tensor::full({5, 7, 10}, 1, DType::f32), step = Tensor::full({5, 10}, 1, DType::f32);
    DropoutKey key{8, 1, 2, 6, 0};
    const Tensor whole = dropout(ones, 0.5, key).value();
    for (Index t = 0; t < 7; ++t) {
      key.first_position = static_cast<std::uint32_t>(t);
      const Tensor one = dropout(step, 0.5, key).value();
      for (Index b = 0; b < 5; ++b)
        for (Index f = 0; f < 10; ++f) REQUIRE(one.at(b * 10 + f) == whole.at((b * 7 + t) * 10 + f));
    }
  }

  TEST_CASE("dropout of p = 0 is the identity and of p = 1 nothing, with zero gradient") {
    const Var x = watch(Tensor::from({1, -2, 3, 4, 5, std::nan("")}, {2, 3}, DType::f64));
    CHECK(dropout(x, 0, {}).leaf() == x.leaf());
    Tape tape;
    const Var y = dropout(x, 1, {});
    CHECK(y.value().values() == std::vector<double>(6, 0));
    CHECK(tape.backward(std::array{y}, std::array{Tensor::full({2, 3}, 1, DType::f64)})[x].values() ==
          std::vector<double>(6, 0));
    CHECK_THROWS_WITH(dropout(x, -0.5, {}), "dropout: p must lie in [0, 1]; given -0.5");
    for (const double p : {0.0, 0.5})
      CHECK_THROWS_WITH(dropout(watch(Tensor::zeros({4}, DType::f32)), p, {}),
                        "dropout: x must be [B,F] or [B,T,F]; given [4]");
  }
}
