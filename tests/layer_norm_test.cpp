#include "autograd/layer_norm.h"

#include <doctest/doctest.h>

#include "tests/twins.h"

using namespace tapestry;

TEST_SUITE("fast") {
  TEST_CASE("values worked by hand") {
    // Mean 3, biased variance 2: (x - 3) / sqrt(2 + 2) with epsilon 2.
    const Var x(Tensor::from({1, 3, 5, 3}, {1, 4}, DType::f64));
    CHECK(layer_norm(x, {}, {}, 1, 2).value().values() == std::vector<double>{-1, 0, 1, 0});
    const Var weight(Tensor::from({1, 2, 3, 4}, {4}, DType::f64)), bias(Tensor::from({5, 6, 7, 8}, {4}, DType::f64));
    CHECK(layer_norm(x, weight, bias, 1, 2).value().values() == std::vector<double>{4, 6, 10, 8});
    CHECK(layer_norm(x, weight, {}, 1, 2).value().values() == std::vector<double>{-1, 0, 3, 0});
    CHECK(layer_norm(x, {}, bias, 1, 2).value().values() == std::vector<double>{4, 6, 8, 8});
  }

  TEST_CASE("it equals its twin, over one axis and over several, with and without weight and bias") {
    for (const int axes : {1, 2}) {
      const Shape inner = axes == 1 ? Shape{37} : Shape{5, 37};
      check_twins(
          {{3, 5, 37}, inner, inner},
          [=](const std::vector<Var>& in) { return std::vector{layer_norm(in[0], in[1], in[2], axes)}; },
          [=](const std::vector<Var>& in) { return std::vector{layer_norm_reference(in[0], in[1], in[2], axes)}; });
    }
    check_twins(
        {{4, 7}, {7}}, [](const std::vector<Var>& in) { return std::vector{layer_norm(in[0], in[1], {})}; },
        [](const std::vector<Var>& in) { return std::vector{layer_norm_reference(in[0], in[1], {})}; });
    check_twins(
        {{4, 7}, {7}}, [](const std::vector<Var>& in) { return std::vector{layer_norm(in[0], {}, in[1])}; },
        [](const std::vector<Var>& in) { return std::vector{layer_norm_reference(in[0], {}, in[1])}; });
    check_twins(
        {{4, 7}}, [](const std::vector<Var>& in) { return std::vector{layer_norm(in[0], {}, {}, 1, 0.1)}; },
        [](const std::vector<Var>& in) { return std::vector{layer_norm_reference(in[0], {}, {}, 1, 0.1)}; });
  }

  TEST_CASE("add and norm equals its twin, with and without dropout") {
    const std::vector<Shape> shapes{{3, 5, 37}, {3, 5, 37}, {37}, {37}};
    for (const double p : {0.0, 0.3, 1.0}) {
      const AddNormOptions options{p, {1, 2, 3, 4, 5}};
      check_twins(
          shapes, [&](const auto& in) { return std::vector{add_norm(in[0], in[1], in[2], in[3], options)}; },
          [&](const auto& in) { return std::vector{add_norm_reference(in[0], in[1], in[2], in[3], options)}; });
    }
    // One Var as both: its gradient is the sum.
    check_twins(
        {{2, 3, 8}, {8}, {8}}, [](const auto& in) { return std::vector{add_norm(in[0], in[0], in[1], in[2])}; },
        [](const auto& in) { return std::vector{add_norm_reference(in[0], in[0], in[1], in[2])}; });
  }

  TEST_CASE("a mean of 1000 costs f32 no digits") {
    core::Random random(3);
    const Tensor x = Tensor::empty({6, 50}, DType::f32);
    for (Index i = 0; i < x.numel(); ++i) x.set(i, 1000 + random.normal());
    const Tensor expected = layer_norm_reference(x.to(DType::f64), {}, {}).value();
    check_close(layer_norm(x, {}, {}).value().to(DType::f64), expected, 1e-6);
  }

  TEST_CASE("rows that are all alike give the bias, and finite gradients") {
    const Var x = watch(Tensor::full({2, 3}, 7, DType::f32)), bias(Tensor::from({1, 2, 3}, {3}, DType::f32));
    Tape tape;
    const Var y = layer_norm(x, {}, bias);
    CHECK(y.value().values() == std::vector<double>{1, 2, 3, 1, 2, 3});
    const std::vector<Tensor> dy{Tensor::full({2, 3}, 1, DType::f32)};
    const Gradients gradients = tape.backward(std::vector{y}, dy);
    CHECK(gradients[x].values() == std::vector<double>(6, 0));
  }

  TEST_CASE("errors") {
    const Var x(Tensor::zeros({2, 3}, DType::f32)), short_weight(Tensor::zeros({2}, DType::f32));
    CHECK_THROWS_WITH_AS(layer_norm(x, {}, {}, 3), "layer_norm: the axes must be some of x's; given 3 of [2, 3]",
                         Error);
    CHECK_THROWS_WITH_AS(layer_norm(x, short_weight, {}), "layer_norm: the weight must be [3]; given [2]", Error);
    CHECK_THROWS_WITH_AS(add_norm(x, short_weight, {}, {}), "add_norm: the residual must be [2, 3]; given [2]", Error);
    CHECK_THROWS_WITH_AS(layer_norm(x, {}, short_weight), "layer_norm: the bias must be [3]; given [2]", Error);
  }
}
