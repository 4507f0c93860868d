#include "nn/convolution.h"

#include <doctest/doctest.h>

#include <cmath>

#include "autograd/ops.h"
#include "tests/twins.h"

using namespace tapestry;

namespace {

Tensor numbers(std::initializer_list<double> values, const Shape& shape) {
  return Tensor::from(values, shape, DType::f64);
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("convolution of four positions by hand") {
    const Tensor x = numbers({1, 2, 4, 8}, {1, 4, 1}), weight = numbers({1, 10, 100}, {1, 1, 3}),
                 bias = numbers({5}, {1});
    const auto convolved = [&](const ConvolutionPlan& plan) { return conv1d(x, weight, bias, plan).value().values(); };
    CHECK(convolved(ConvolutionPlan::same(3)) == std::vector<double>{215, 426, 847, 89});
    CHECK(convolved(ConvolutionPlan::causal(3)) == std::vector<double>{105, 215, 426, 847});
    CHECK(convolved(ConvolutionPlan::causal(3, 2)) == std::vector<double>{105, 205, 415, 825});
    CHECK(convolved({}) == std::vector<double>{426, 847});
    CHECK(convolved({0, 0, 2}).empty());  // five positions would be needed
  }

  TEST_CASE("an even kernel sees one position more on the right, as PyTorch has it") {
    for (const auto& [kernel, dilation, left, right] :
         {std::array<Index, 4>{4, 1, 1, 2}, std::array<Index, 4>{2, 1, 0, 1}, std::array<Index, 4>{2, 2, 1, 1},
          std::array<Index, 4>{1, 9, 0, 0}}) {
      const auto plan = ConvolutionPlan::same(kernel, dilation);
      CHECK(plan.left == left);
      CHECK(plan.right == right);
    }
  }

  TEST_CASE("fused convolution equals the plain one") {
    for (const Index kernel : {1, 2, 3, 5}) {
      for (const Index dilation : {1, 2, 4}) {
        CAPTURE(kernel);
        CAPTURE(dilation);
        for (const ConvolutionPlan& plan :
             {ConvolutionPlan::same(kernel, dilation), ConvolutionPlan::causal(kernel, dilation)}) {
          for (const Ids& lengths : {Ids(), Ids({9, 0, 4})}) {
            check_twins(
                {{3, 9, 5}, {7, 5, kernel}, {7}},
                [&](const auto& in) { return std::vector{conv1d(in[0], in[1], in[2], plan, lengths)}; },
                [&](const auto& in) { return std::vector{conv1d_reference(in[0], in[1], in[2], plan, lengths)}; });
          }
        }
      }
    }
    check_twins(
        {{2, 9, 5}, {7, 5, 3}}, [&](const auto& in) { return std::vector{conv1d(in[0], in[1], {})}; },
        [&](const auto& in) { return std::vector{conv1d_reference(in[0], in[1], {})}; });
  }

  TEST_CASE("padding does not change what a layer of convolution makes of a sequence, not even as NaN") {
    core::Random random(5);
    ParameterStore store(DType::f64);
    const Conv1d layer(Scope(store), 3, 4, 4);
    const Tensor x = random_tensor(random, {1, 5, 3}, DType::f64), longer = Tensor::full({1, 8, 3}, NAN, DType::f64);
    longer.reshape({8, 3}).rows(0, 5).copy_from(x.reshape({5, 3}));
    const Tensor alone = layer(x).value(), padded = layer(longer, Ids({5})).value();
    for (Index i = 0; i < padded.numel(); ++i) CHECK(padded.at(i) == (i < alone.numel() ? alone.at(i) : 0));
  }

  TEST_CASE("a causal layer never looks ahead") {
    ParameterStore store(DType::f64);
    const Conv1d layer(Scope(store), 2, 2, 3, {true, 2});
    const Var x = watch(Tensor::full({1, 7, 2}, 0.5, DType::f64));
    Tape tape;
    const Tensor dx = tape.backward(sum(select(layer(x), 1, 4)))[x];
    for (Index t = 0; t < 7; ++t) CHECK((dx.at(2 * t) != 0) == (t == 0 || t == 2 || t == 4));
  }

  TEST_CASE("convolution refuses what does not fit") {
    const auto t = [](const Shape& shape) { return Var(Tensor::zeros(shape, DType::f32)); };
    const Var x = t({2, 6, 3}), weight = t({4, 3, 5});
    CHECK_THROWS_WITH(conv1d(t({6, 3}), weight, {}), "conv1d: x must be [B,T,in]; given [6, 3]");
    CHECK_THROWS_WITH(conv1d(x, t({4, 2, 5}), {}),
                      "conv1d: the weight must be [out,3,k] for x [2, 6, 3]; given [4, 2, 5]");
    CHECK_THROWS_WITH(conv1d(x, weight, t({3})), "conv1d: the bias must be [4]; given [3]");
    CHECK_THROWS_WITH(conv1d(x, t({4, 3, 0}), {}),
                      "conv1d: kernel and dilation must be 1 to 1073741824; given 0 and 1");
    CHECK_THROWS_WITH(conv1d(x, weight, {}, {2, 2, -1}),
                      "conv1d: kernel and dilation must be 1 to 1073741824; given 5 and -1");
    CHECK_THROWS_WITH(conv1d(x, weight, {}, {5, 0, 1}),
                      "conv1d: zeros on either side must be 0 to 4, as far as the kernel reaches; given 5 and 0");
    CHECK_THROWS_WITH(conv1d(x, weight, {}, {}, Ids({6})), "conv1d: lengths must be [2]; given [1]");
    CHECK_THROWS_WITH(conv1d(x, weight, {}, {}, Ids({6, 7})), "conv1d: lengths must be 0 to 6; given 7");
    ParameterStore store;
    CHECK_THROWS_WITH(Conv1d(Scope(store), 2, 2, 0),
                      "conv1d: kernel and dilation must be 1 to 1073741824; given 0 and 1");
    CHECK_THROWS_WITH(Conv1d(Scope(store), 2, 2, 3, {false, 0}),
                      "conv1d: kernel and dilation must be 1 to 1073741824; given 3 and 0");
  }
}
