#include "autograd/gradcheck.h"

#include <doctest/doctest.h>

#include <cmath>

#include "autograd/record.h"

using namespace tapestry;

namespace {

template <class F>
Tensor map(const Tensor& x, F f) {
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  for (Index i = 0; i < x.numel(); ++i) y.set(i, f(x.at(i)));
  return y;
}

// y = f(x), with a backward that claims dx = dy g(x).
GradcheckCase unary(const char* name, double (*f)(double), double (*g)(double), double low = -2, double high = 2) {
  return {name, {{{2, 3}, low, high}}, [=](const std::vector<Var>& in) {
            const Var x = in[0];
            return std::vector{record(name, map(x.value(), f), {x}, [=](const Tensor& dy, Grads& dx) {
              Tensor d = map(x.value(), g);
              for (Index i = 0; i < d.numel(); ++i) d.set(i, d.at(i) * dy.at(i));
              dx.add(0, d);
            })};
          }};
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("gradcheck passes the derivative and catches one that is off by a thousandth") {
    const auto right = gradcheck(unary(
        "sin", [](double x) { return std::sin(x); }, [](double x) { return std::cos(x); }));
    CHECK(right.passed);
    CHECK(right.checked == 6);
    CHECK(right.worst < 1e-7);
    const auto wrong = gradcheck(unary(
        "sin", [](double x) { return std::sin(x); }, [](double x) { return 1.001 * std::cos(x); }));
    CHECK_FALSE(wrong.passed);
    CHECK(wrong.worst == doctest::Approx(1e-3).epsilon(0.01));
    CHECK(wrong.message.starts_with("sin: argument 0 (input 0) of shape [2, 3], element "));
  }

  TEST_CASE("gradcheck draws points at a kink again, and counts them") {
    // Differences of 6e-6 within an interval of 2e-4 round the kink: one draw in eight is too near.
    const auto kinked = [](double x) { return std::abs(x); };
    const auto slope = [](double x) { return x > 0 ? 1.0 : -1.0; };
    Index kinks = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const auto report = gradcheck(unary("abs", kinked, slope, -1e-4, 1e-4), {1e-6, seed, 0});
      CHECK(report.passed);
      kinks += report.kinks;
    }
    CHECK(kinks > 5);
  }

  TEST_CASE("gradcheck cannot be passed by NaN, by nothing, or by a kink everywhere") {
    const auto nan = gradcheck(unary(
        "nan", [](double x) { return x; }, [](double) { return std::nan(""); }));
    CHECK_FALSE(nan.passed);
    const GradcheckCase nothing{"nothing", {}, [](const auto&) { return std::vector<Var>(); }};
    CHECK_FALSE(gradcheck(nothing).passed);
    const auto stuck = gradcheck(unary(
        "rough", [](double x) { return std::sin(1e9 * x); }, [](double) { return 0.0; }));
    CHECK_FALSE(stuck.passed);
    CHECK(stuck.message == "rough: a smooth point must be found in 20 draws; every one was at a kink");
  }

  TEST_CASE("gradcheck of leaves checks some elements of each and a direction, and restores the values") {
    const Var w = watch(Tensor::from({.1, .2, .3, .4}, {4}, DType::f64), "w");
    const auto square = [&] {
      return std::vector{
          record("square", map(w.value(), [](double x) { return x * x; }), {w}, [w](const Tensor& dy, Grads& dx) {
            Tensor d = w.value().clone();
            for (Index i = 0; i < d.numel(); ++i) d.set(i, 2 * d.at(i) * dy.at(i));
            dx.add(0, d);
          })};
    };
    const auto report = gradcheck("square", {w}, square, {1e-6, 1, 3});
    CHECK(report.passed);
    CHECK(report.checked == 4);
    CHECK(w.value().values() == std::vector{.1, .2, .3, .4});
    const Var single = watch(Tensor::zeros({1}, DType::f32), "single");
    CHECK_THROWS_WITH_AS(gradcheck("f32", {single}, square),
                         "gradcheck: f32: arguments must be f64 leaves; given f32 single", Error);
  }
}
