#include "autograd/reduce.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "autograd/tape.h"

using namespace tapestry;

namespace {

using Values = std::vector<double>;
const double infinity = std::numeric_limits<double>::infinity();

Var f64(std::initializer_list<double> values, const Shape& shape) {
  return watch(Tensor::from(values, shape, DType::f64));
}

Var counting(const Shape& shape, DType dtype = DType::f64) {
  const Tensor x = Tensor::empty(shape, dtype);
  for (Index i = 0; i < x.numel(); ++i) x.set(i, static_cast<double>(i));
  return watch(x);
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("axes, kept or not, counted from either end") {
    const Var x = counting({2, 3, 4});  // 12 i + 4 j + k
    CHECK(sum(x).shape() == Shape{});
    CHECK(sum(x).value().item() == 276);
    CHECK(sum(x, {}, true).shape() == Shape{1, 1, 1});
    CHECK(sum(x, {-1}).value().values() == Values{6, 22, 38, 54, 70, 86});
    CHECK(sum(x, {1}).value().values() == Values{12, 15, 18, 21, 48, 51, 54, 57});
    CHECK(sum(x, {0}).shape() == Shape{3, 4});
    CHECK(sum(x, {0, 2}).value().values() == Values{60, 92, 124});
    CHECK(sum(x, {2, 0}, true).shape() == Shape{1, 3, 1});
    CHECK(sum(x, {0, 1}).value().values() == Values{60, 66, 72, 78});
    CHECK(mean(x, {0, 1}).value().values() == Values{10, 11, 12, 13});
    CHECK(max(x, {0, -1}).value().values() == Values{15, 19, 23});
    CHECK(min(x, {1}).value().values() == Values{0, 1, 2, 3, 12, 13, 14, 15});
    CHECK(variance(x, {2}).value().at(3) == doctest::Approx(5.0 / 3));
    CHECK(variance(x, {2}, false).value().at(3) == doctest::Approx(1.25));
    CHECK(sum(f64({7}, {})).value().item() == 7);
    CHECK(sum(f64({}, {0, 2}), {0}).value().values() == Values{0, 0});
  }

  TEST_CASE("many columns and many rows are summed completely") {
    // More rows than a block, more columns than a register, neither a multiple.
    for (DType dtype : {DType::f32, DType::f64}) {
      const Var x = counting({2, 21, 19}, dtype);
      const Tensor y = sum(x, {1}).value();
      for (Index o = 0; o < 2; ++o)
        for (Index c = 0; c < 19; ++c) CHECK(y.at(o * 19 + c) == static_cast<double>(21 * (o * 399 + c) + 19 * 210));
    }
  }

  TEST_CASE("a large mean costs the variance no digits") {
    const Tensor x = Tensor::empty({2, 1000}, DType::f32);
    for (Index i = 0; i < x.numel(); ++i) x.set(i, 1000 + (i % 2 == 0 ? 1 : -1));
    CHECK(variance(x, {1}, false).value().at(0) == doctest::Approx(1).epsilon(1e-6));
    CHECK(variance(x, {0, 1}, true).value().item() == doctest::Approx(2000.0 / 1999).epsilon(1e-6));
  }

  TEST_CASE("an f32 sum of numbers that cancel keeps what is left, along rows and along columns") {
    const Index n = 20001;
    const Tensor x = Tensor::empty({n}, DType::f32);
    for (Index i = 0; i < n; ++i) x.set(i, i % 2 == 0 ? 1e6 : -1e6);
    x.set(n - 1, 1.25);
    CHECK(sum(x).value().item() == 1.25);
    const Tensor column = x.reshape({n, 1});
    const Tensor two = Tensor::empty({n, 2}, DType::f32);
    for (Index i = 0; i < 2 * n; ++i) two.set(i, column.at(i / 2) * (i % 2 == 0 ? 1 : 2));
    CHECK(sum(two, {0}).value().values() == Values{1.25, 2.5});
  }

  TEST_CASE("the gradient of a maximum is divided evenly among ties") {
    const Var x = f64({3, 1, 3, 2, 2, 2}, {2, 3});
    Tape tape;
    const Var y = max(x, {1});
    const Tensor dy = Tensor::from({1, 6}, {2}, DType::f64);
    CHECK(tape.backward(std::span(&y, 1), std::span(&dy, 1))[x].values() == Values{0.5, 0, 0.5, 2, 2, 2});
  }

  TEST_CASE("logsumexp neither overflows nor turns -infinity into NaN") {
    const Var x = f64({1000, 1000, -infinity, -infinity, 0, -infinity}, {3, 2});
    Tape tape;
    const Var y = logsumexp(x, {1});
    CHECK(y.value().at(0) == doctest::Approx(1000 + std::log(2)));
    CHECK(y.value().at(1) == -infinity);
    CHECK(y.value().at(2) == 0);
    const Tensor dy = Tensor::full({3}, 1, DType::f64);
    const Values g = tape.backward(std::span(&y, 1), std::span(&dy, 1))[x].values();
    for (std::size_t i = 0; double wanted : {0.5, 0.5, 0.0, 0.0, 1.0, 0.0}) CHECK(g[i++] == doctest::Approx(wanted));
    CHECK(logsumexp(f64({infinity, 1}, {2}).detach()).value().item() == infinity);
  }

  TEST_CASE("NaN survives every reduction") {
    const Var x = f64({1, std::nan(""), 2}, {3});
    for (auto* f : {sum, mean, max, min, logsumexp}) CHECK(std::isnan(f(x, {}, false).value().item()));
    CHECK(std::isnan(variance(x).value().item()));
    const Var columns = f64({1, 2, std::nan(""), 3}, {2, 2});
    CHECK(std::isnan(max(columns, {0}).value().at(0)));
    CHECK(max(columns, {0}).value().at(1) == 3);
  }

  TEST_CASE("errors of reductions") {
    const Var x = counting({2, 3});
    CHECK_THROWS_WITH_AS(sum(x, {2}), "shape: axis must lie in [-2, 2) of [2, 3]; given 2", Error);
    CHECK_THROWS_WITH_AS(mean(x, {1, -1}), doctest::Contains("axis -1 of [2, 3] is given twice"), Error);
    CHECK_THROWS_WITH_AS(max(f64({}, {2, 0}), {1}), "max: at least one element is needed; given [2, 0]", Error);
    CHECK_THROWS_WITH_AS(variance(f64({1}, {1})), "variance: at least 2 elements are needed; given 1", Error);
  }
}
