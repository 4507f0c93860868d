#include "autograd/matmul.h"
#include "tests/twins.h"

#include <doctest/doctest.h>

#include "autograd/tape.h"

using namespace tapestry;

namespace {

using Values = std::vector<double>;

// 0, 1, 2 ... modulo 7, minus 3: small integers, so that sums are exact in f32 as well.
Var small(const Shape& shape, DType dtype = DType::f64) {
  const Tensor x = Tensor::empty(shape, dtype);
  for (Index i = 0; i < x.numel(); ++i) x.set(i, static_cast<double>((i * 5) % 7 - 3));
  return watch(x);
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("a product by hand, with vectors on either side") {
    const Var a = Tensor::from({1, 2, 3, 4, 5, 6}, {2, 3}, DType::f64);
    const Var b = Tensor::from({1, 0, 0, 1, 2, 3}, {3, 2}, DType::f64);
    const Var v = Tensor::from({1, -1, 2}, {3}, DType::f64);
    CHECK(matmul(a, b).value().values() == Values{7, 11, 16, 23});
    CHECK(matmul(v, b).shape() == Shape{2});
    CHECK(matmul(v, b).value().values() == Values{5, 5});
    CHECK(matmul(a, v).value().values() == Values{5, 11});
    CHECK(matmul(v, v).shape() == Shape{});
    CHECK(matmul(v, v).value().item() == 6);
  }

  TEST_CASE("batches broadcast: each product is that of its own matrices") {
    const Var a = small({5, 1, 2, 3}), b = small({4, 3, 6});
    const Tensor y = matmul(a, b).value();
    REQUIRE(y.shape() == Shape{5, 4, 2, 6});
    for (Index i = 0; i < 5; ++i)
      for (Index j = 0; j < 4; ++j) {
        const Tensor one =
            matmul(a.value().rows(i, i + 1).reshape({2, 3}), b.value().rows(j, j + 1).reshape({3, 6})).value();
        CHECK(y.rows(i, i + 1).reshape({4, 2, 6}).rows(j, j + 1).values() == one.values());
      }
    CHECK(matmul(small({0, 2, 3}), small({3, 4})).shape() == Shape{0, 2, 4});
    CHECK(matmul(small({2, 0}), small({0, 3})).value().values() == Values(6, 0));
  }

  TEST_CASE("linear equals its composition of plain ops, in values and in gradients") {
    for (DType dtype : {DType::f32, DType::f64})
      for (bool with_bias : {true, false}) {
        const Var x = small({2, 5, 3}, dtype), w = small({4, 3}, dtype), b = with_bias ? small({4}, dtype) : Var();
        const Tensor dy = small({2, 5, 4}, dtype).value();
        const auto run = [&](auto f) {
          Tape tape;
          const Var y = f(x, w, b);
          const Gradients g = tape.backward(std::span(&y, 1), std::span(&dy, 1));
          return std::vector{y.value().values(), g[x].values(), g[w].values(), with_bias ? g[b].values() : Values{}};
        };
        CHECK(run([](const auto&... in) { return linear(in...); }) ==
              run([](const auto&... in) { return linear_reference(in...); }));
      }
  }

  TEST_CASE("rows of a linear layer, and one that ends in relu and dropout, equal their twins") {
    const std::vector<Shape> shapes{{3, 5, 7}, {12, 7}, {12}};
    const DropoutKey key{1, 2, 3, 4, 5};
    for (const RowRange& rows : {RowRange{}, RowRange{0, 4}, RowRange{4, 12}}) {
      check_twins(
          shapes, [&](const auto& in) { return std::vector{linear(in[0], in[1], in[2], rows)}; },
          [&](const auto& in) { return std::vector{linear_reference(in[0], in[1], in[2], rows)}; });
    }
    for (const double p : {0.0, 0.3, 1.0}) {
      check_twins(
          shapes, [&](const auto& in) { return std::vector{linear_relu(in[0], in[1], in[2], p, key)}; },
          [&](const auto& in) { return std::vector{linear_relu_reference(in[0], in[1], in[2], p, key)}; });
      check_twins(
          {{3, 5, 7}, {12, 7}}, [&](const auto& in) { return std::vector{linear_relu(in[0], in[1], {}, p, key)}; },
          [&](const auto& in) { return std::vector{linear_relu_reference(in[0], in[1], {}, p, key)}; });
    }
  }

  TEST_CASE("linear adds to gradients that are there already") {
    const Var x = small({3}), w = small({4, 3}), b = small({4});
    Tape tape;
    const std::vector<Var> y = {linear(x, w, b), linear(x, w, b)};
    const std::vector<Tensor> dy = {Tensor::full({4}, 1, DType::f64), Tensor::full({4}, 2, DType::f64)};
    const Gradients g = tape.backward(y, dy);
    CHECK(g[b].values() == Values{3, 3, 3, 3});
    for (Index o = 0; o < 4; ++o)
      for (Index i = 0; i < 3; ++i) CHECK(g[w].at(3 * o + i) == 3 * x.value().at(i));
  }

  TEST_CASE("errors of products") {
    CHECK_THROWS_WITH_AS(matmul(small({2, 3}), small({4, 5})), "matmul: inner sizes must match; [2, 3] and [4, 5]",
                         Error);
    CHECK_THROWS_WITH_AS(matmul(small({}), small({4})), "matmul: vectors or matrices are needed; given [] and [4]",
                         Error);
    CHECK_THROWS_WITH_AS(matmul(small({2, 2, 3}), small({4, 3, 5})),
                         "matmul: shapes must broadcast (sizes equal or 1, from the last axis); [2] and [4]", Error);
    CHECK_THROWS_WITH_AS(linear(small({2, 3}), small({4, 5}), {}),
                         "linear: x must be [..., in] and the weight [out, in]; given [2, 3] and [4, 5]", Error);
    CHECK_THROWS_WITH_AS(linear(small({2, 3}), small({4, 3}), {}, {2, 5}),
                         "linear: rows of the weight must be some of 4; given 2 to 5", Error);
    CHECK_THROWS_WITH_AS(linear(small({2, 3}), small({4, 3}), small({5})), "linear: the bias must be [4]; given [5]",
                         Error);
    CHECK_THROWS_WITH_AS(linear(small({2, 3}), small({4, 3}, DType::f32), {}),
                         "linear: all inputs must have one dtype; f64 [2, 3] and f32 [4, 3]", Error);
  }

  TEST_CASE("the first gradient that a linear layer gives its input is stored, not added to zeros or copied") {
    const Var x = small({64, 32}, DType::f32), weight = small({16, 32}, DType::f32);
    Tape tape;
    const Var y = linear(x, weight, Var());
    const Tensor cotangent = small({64, 16}, DType::f32).value();
    core::KernelTimes times;
    core::KernelTimes::current() = &times;
    tape.backward(std::span(&y, 1), std::span(&cotangent, 1));
    core::KernelTimes::current() = nullptr;
    // The cotangent's copy, the gradient of the weight, and that of x, once.
    CHECK(times.bytes == 4 * (64 * 16 + 16 * 32 + 64 * 32));
    CHECK(times.operations == 2.0 * 2 * 64 * 32 * 16);
    CHECK(times.products <= times.kernels);
  }
}
