#include "autograd/softmax.h"

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

Values gradient(const Var& x, const Var& y, std::initializer_list<double> cotangent, Tape& tape) {
  const Tensor dy = Tensor::from(cotangent, y.shape(), y.dtype());
  return tape.backward(std::span(&y, 1), std::span(&dy, 1))[x].values();
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("softmax by hand, along either axis") {
    const double l2 = std::log(2.0);
    const Var x = f64({0, l2, 0, 0}, {2, 2});
    const Tensor rows = softmax(x).value(), columns = softmax(x, 0).value(), logs = log_softmax(x).value();
    CHECK(rows.at(0) == doctest::Approx(1.0 / 3));
    CHECK(rows.at(1) == doctest::Approx(2.0 / 3));
    CHECK(rows.at(2) == doctest::Approx(0.5));
    CHECK(columns.at(0) == doctest::Approx(0.5));
    CHECK(columns.at(1) == doctest::Approx(2.0 / 3));
    CHECK(logs.at(0) == doctest::Approx(-std::log(3.0)));
    Tape tape;
    // y = (1/3, 2/3): dx = y (dy - <dy, y>) = (1/3 (1 - 7/3), 2/3 (3 - 7/3)).
    const Values g = gradient(x, softmax(x), {1, 3, 0, 0}, tape);
    CHECK(g[0] == doctest::Approx(-4.0 / 9));
    CHECK(g[1] == doctest::Approx(4.0 / 9));
    CHECK(g[2] == 0);
  }

  TEST_CASE("large scores and scores of -infinity are exact") {
    const Var x = f64({1e4, 1e4 - 800, -infinity, 0, -infinity, -infinity}, {2, 3});
    CHECK(softmax(x).value().values() == Values{1, 0, 0, 1, 0, 0});
    CHECK(log_softmax(x).value().values() == Values{0, -800, -infinity, 0, -infinity, -infinity});
    Tape tape;
    for (double g : gradient(x, log_softmax(x), {1, 2, 0, 3, 0, 0}, tape)) CHECK(std::isfinite(g));
  }

  TEST_CASE("a row of NaN stays so, and spoils no other") {
    const Var x = f64({std::nan(""), 0, 0, 0}, {2, 2});
    CHECK(std::isnan(softmax(x).value().at(1)));
    CHECK(softmax(x).value().at(2) == 0.5);
    CHECK(std::isnan(log_softmax(x).value().at(0)));
  }

  TEST_CASE("nothing to attend to gives zeros and zero gradient") {
    const Var x = f64({5, 6, -infinity, -infinity}, {2, 2});
    for (const Mask& mask : {Mask::lengths(Ids({0, 2})), Mask::lengths(Ids({0, 0}))}) {
      Tape tape;
      const Var y = masked_softmax(x, mask);
      CHECK(y.value().values() == Values{0, 0, 0, 0});
      CHECK(gradient(x, y, {1, 2, 3, 4}, tape) == Values{0, 0, 0, 0});
    }
    CHECK(softmax(x).value().at(2) == 0);
  }

  TEST_CASE("masked softmax attends to what its mask allows, as if the rest were not there") {
    const Index heads = 2, queries = 3, keys = 21;
    const Tensor scores = Tensor::empty({2, heads, queries, keys}, DType::f32);
    for (Index i = 0; i < scores.numel(); ++i) scores.set(i, std::sin(static_cast<double>(i * i)));
    const Mask mask = Mask::lengths(Ids({21, 2})) & Mask::window(8);
    const Tensor y = masked_softmax(scores, mask).value();
    for (Index row = 0; row < 2 * heads * queries; ++row) {
      const auto seen = mask.keys(row / (heads * queries), row % queries, keys);
      double total = 0;
      for (Index k = seen.begin; k < seen.end; ++k) total += std::exp(scores.at(row * keys + k));
      for (Index k = 0; k < keys; ++k) {
        const double wanted = seen.begin <= k && k < seen.end ? std::exp(scores.at(row * keys + k)) / total : 0;
        CHECK(y.at(row * keys + k) == doctest::Approx(wanted).epsilon(1e-6));
      }
    }
    // What is masked may hold anything: its neighbours do not see it, nor does the gradient.
    const Var x = f64({1, 1, std::nan(""), infinity}, {1, 4});
    Tape tape;
    const Var p = masked_softmax(x, Mask::lengths(Ids({2})));
    CHECK(p.value().values() == Values{0.5, 0.5, 0, 0});
    CHECK(gradient(x, p, {1, 0, infinity, std::nan("")}, tape) == Values{0.25, -0.25, 0, 0});
  }

  TEST_CASE("errors of softmax") {
    CHECK_THROWS_WITH_AS(masked_softmax(f64({1}, {1}), {}),
                         "masked_softmax: scores must be [B,K], [B,Q,K] or [B,H,Q,K]; given [1]", Error);
    CHECK_THROWS_WITH_AS(masked_softmax(f64({1, 2}, {1, 2}), Mask::lengths(Ids({1, 2}))),
                         "masked_softmax: the mask's lengths must be [1]; given [2]", Error);
    CHECK_THROWS_WITH_AS(softmax(f64({1}, {})), doctest::Contains("axis must lie in"), Error);
  }
}
