#include "autograd/elementwise.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "autograd/tape.h"
#include "core/accumulate.h"

using namespace tapestry;

namespace {

using Values = std::vector<double>;
using Function = Var (*)(const Var&);
const double infinity = std::numeric_limits<double>::infinity();

Var f64(std::initializer_list<double> values, const Shape& shape) {
  return watch(Tensor::from(values, shape, DType::f64));
}

// The gradient by x of the sum of y's elements, each weighted by 1.
template <class F>
Values slope(F f, const Var& x) {
  Tape tape;
  const Var y = f(x);
  const Tensor ones = Tensor::full(y.shape(), 1, y.dtype());
  return tape.backward(std::span(&y, 1), std::span(&ones, 1))[x].values();
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("operands broadcast from the last axis") {
    const Var a = f64({1, 2, 3, 4, 5, 6}, {2, 3}), row = f64({10, 20, 30}, {3}), column = f64({100, 200}, {2, 1});
    CHECK((a + row).value().values() == Values{11, 22, 33, 14, 25, 36});
    CHECK((a - column).value().values() == Values{-99, -98, -97, -196, -195, -194});
    CHECK((column * row).shape() == Shape{2, 3});
    CHECK((column * row).value().values() == Values{1000, 2000, 3000, 2000, 4000, 6000});
    CHECK((a / f64({2}, {})).value().values() == Values{0.5, 1, 1.5, 2, 2.5, 3});
    CHECK((row + f64({1}, {1, 1})).shape() == Shape{1, 3});
    CHECK(add(f64({}, {0, 3}), row).shape() == Shape{0, 3});
    // Six axes, of which none merge.
    const Var deep = f64({1, 2}, {1, 2, 1, 1, 1, 1}) * f64({1, 10, 100}, {3, 1, 1, 1, 1, 1});
    CHECK(deep.value().values() == Values{1, 2, 10, 20, 100, 200});
  }

  TEST_CASE("long rows of each broadcast shape are as element by element") {
    // 37 columns: whole registers and a tail, in both dtypes.
    for (DType dtype : {DType::f32, DType::f64}) {
      const Index rows = 3, columns = 37;
      const Tensor a = Tensor::empty({rows, columns}, dtype), row = Tensor::empty({columns}, dtype),
                   column = Tensor::empty({rows, 1}, dtype);
      for (Index i = 0; i < a.numel(); ++i) a.set(i, static_cast<double>(i));
      for (Index i = 0; i < columns; ++i) row.set(i, static_cast<double>(1000 * i));
      for (Index i = 0; i < rows; ++i) column.set(i, static_cast<double>(i + 1) / 2);
      const Tensor by_row = sub(a, row).value(), by_column = mul(column, a).value(), outer = mul(column, row).value();
      for (Index i = 0; i < a.numel(); ++i) {
        const Index r = i / columns, c = i % columns;
        CHECK(by_row.at(i) == static_cast<double>(i - 1000 * c));
        CHECK(by_column.at(i) == static_cast<double>(i * (r + 1)) / 2);
        CHECK(outer.at(i) == static_cast<double>(1000 * c * (r + 1)) / 2);
      }
    }
  }

  TEST_CASE("the gradient of a broadcast is summed back") {
    const Var a = f64({1, 2, 3, 4, 5, 6}, {2, 3}), row = f64({10, 20, 30}, {3}), column = f64({100, 200}, {2, 1});
    CHECK(slope([&](const Var& x) { return a * x; }, row) == Values{5, 7, 9});
    CHECK(slope([&](const Var& x) { return x * a; }, column) == Values{6, 15});
    CHECK(slope([&](const Var& x) { return a + x; }, f64({1}, {})) == Values{6});
    CHECK(slope([&](const Var& x) { return x * x; }, row) == Values{20, 40, 60});
    CHECK_THROWS_WITH(core::sum_to(a.value(), {2}),
                      "sum_to: shapes must broadcast (sizes equal or 1, from the last "
                      "axis); [2, 3] and [2]");
  }

  TEST_CASE("subgradients follow PyTorch's conventions") {
    const Var x = f64({-1, 0, 2}, {3});
    CHECK(slope(relu, x) == Values{0, 0, 1});
    CHECK(slope(tapestry::abs, x) == Values{-1, 0, 1});
    CHECK(slope([](const Var& v) { return leaky_relu(v, 0.25); }, x) == Values{0.25, 0.25, 1});
    CHECK(slope([](const Var& v) { return clamp(v, -1, 0); }, x) == Values{1, 1, 0});
    CHECK(slope([](const Var& v) { return pow(v, 0); }, x) == Values{0, 0, 0});
    CHECK(pow(x, 0).value().values() == Values{1, 1, 1});
    CHECK(slope([](const Var& v) { return pow(v, 2); }, x) == Values{-2, 0, 4});
    const Var tie = f64({-1, 1, 0}, {3});
    CHECK(slope([&](const Var& v) { return maximum(v, tie); }, x) == Values{0.5, 0, 1});
    CHECK(slope([&](const Var& v) { return minimum(tie, v); }, x) == Values{0.5, 1, 0});
    CHECK(slope([&](const Var& v) { return pow(v, f64({2, 0, 1}, {3})); }, f64({3, 0, 0}, {3})) == Values{6, 0, 1});
  }

  TEST_CASE("known values") {
    const Var x = f64({0, 1, -1}, {3});
    const auto check = [&](const Var& y, std::initializer_list<double> wanted) {
      for (Index i = 0; double value : wanted) CHECK(y.value().at(i++) == doctest::Approx(value).epsilon(1e-14));
    };
    check(sigmoid(x), {0.5, 0.73105857863000487926, 0.26894142136999512075});
    check(softplus(x), {0.69314718055994530942, 1.3132616875182228340, 0.31326168751822283405});
    check(gelu(x), {0, 0.84134474606854294859, -0.15865525393145705141});
    check(gelu_tanh(x), {0, 0.84119199060827670, -0.15880800939172330});
    check(silu(x), {0, 0.73105857863000487926, -0.26894142136999512075});
    check(erf(x), {0, 0.84270079294971486934, -0.84270079294971486934});
    check(2 / (x + 3) - x / 4 * 2, {0.66666666666666666667, 0, 1.5});
  }

  TEST_CASE("extreme arguments stay finite where the function is") {
    const Var x = f64({-1000, 1000}, {2});
    CHECK(sigmoid(x).value().values() == Values{0, 1});
    CHECK(softplus(x).value().values() == Values{0, 1000});
    CHECK(silu(x).value().at(1) == 1000);
    CHECK(gelu(x).value().values() == Values{0, 1000});
    CHECK(gelu_tanh(x).value().values() == Values{0, 1000});
    for (Function f : {sigmoid, softplus, silu, gelu, gelu_tanh, tapestry::tanh})
      for (double g : slope(f, x)) CHECK(std::isfinite(g));
    CHECK(slope(softplus, x) == Values{0, 1});
  }

  TEST_CASE("NaN survives, in values and in gradients") {
    const Var x = f64({std::nan(""), 1, infinity}, {3});
    for (Function f : std::initializer_list<Function>{neg, exp, log, sqrt, square, reciprocal, abs, erf, sin, cos, tanh,
                                                      sigmoid, relu, gelu, gelu_tanh, silu, softplus})
      CHECK(std::isnan(f(x).value().at(0)));
    CHECK(std::isnan(maximum(x, f64({2}, {1})).value().at(0)));
    CHECK(std::isnan(minimum(f64({2}, {1}), x).value().at(0)));
    CHECK(std::isnan(clamp(x, 0, 1).value().at(0)));
    CHECK(relu(x).value().at(2) == infinity);
  }

  TEST_CASE("where and masked_fill choose; what is not chosen may be NaN") {
    const Ids condition({1, 0, 0}, {3});
    const Var a = f64({1, std::nan(""), infinity}, {3}), b = f64({-5}, {1});
    CHECK(where(condition, a, b).value().values() == Values{1, -5, -5});
    CHECK(slope([&](const Var& v) { return where(condition, v, b); }, a) == Values{1, 0, 0});
    CHECK(slope([&](const Var& v) { return where(condition, a, v); }, b) == Values{2});
    CHECK(masked_fill(a, Ids({0, 1, 1}), 7).value().values() == Values{1, 7, 7});
    CHECK(slope([&](const Var& v) { return masked_fill(v, Ids({0, 1, 1}), 7); }, a) == Values{1, 0, 0});
  }

  TEST_CASE("errors name the op, the rule and what was given") {
    const Var a = f64({1, 2, 3, 4, 5, 6}, {2, 3}), wrong = f64({1, 2}, {2});
    CHECK_THROWS_WITH_AS(add(a, wrong),
                         "add: shapes must broadcast (sizes equal or 1, from the last axis); [2, 3] and [2]", Error);
    CHECK_THROWS_WITH_AS(mul(a, Var(Tensor::zeros({3}, DType::f32))),
                         "mul: all inputs must have one dtype; f64 [2, 3] and f32 [3]", Error);
    CHECK_THROWS_WITH_AS(clamp(a, 1, 0), "clamp: the lower bound must not exceed the upper; given 1 and 0", Error);
    CHECK_THROWS_WITH_AS(masked_fill(wrong, Ids({0, 1, 1}), 0), doctest::Contains("masked_fill: "), Error);
  }

  TEST_CASE("an operand is kept for backward only if the other one's gradient needs it") {
    const Var mask = Tensor::full({1024}, 2, DType::f64);
    const std::size_t before = memory_use().live;
    Var x = watch(Tensor::full({1024}, 3, DType::f64));
    Tape tape;
    const Var y = mul(x, mask);
    x = Var();
    // Left: y's numbers. Nobody holds x's, for the mask is a constant.
    CHECK(memory_use().live - before <= size_class_bytes(1024 * 8));
  }
}
