#include "autograd/loss.h"

#include <doctest/doctest.h>

#include <cmath>

#include "autograd/ops.h"
#include "tests/twins.h"

using namespace tapestry;

namespace {

// Rows of 3 logits that are logarithms, so that the probabilities are known: 1/6 2/6 3/6 and 5/10 1/10 4/10.
Tensor known_logits() {
  return Tensor::from({std::log(1), std::log(2), std::log(3), std::log(5), std::log(1), std::log(4)}, {2, 3},
                      DType::f64);
}

std::vector<CrossEntropyOptions> option_sets(Index rows, Index classes, DType dtype) {
  core::Random random(6);
  CrossEntropyOptions plain, smooth, all;
  plain.ignore_index = 0;
  smooth.label_smoothing = 0.1;
  smooth.reduction = Reduction::sum;
  all.ignore_index = 2;
  all.label_smoothing = 0.3;
  all.class_weights = Tensor::empty({classes}, dtype);
  for (Index i = 0; i < classes; ++i) all.class_weights.set(i, random.uniform(0.5, 2));
  all.row_weights = random_tensor(random, {rows}, dtype);
  return {plain, smooth, all};
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("cross-entropy of known probabilities, with every option") {
    const Var logits = known_logits();
    const Ids targets({1, 0});
    const auto loss = [&](const CrossEntropyOptions& options) {
      return cross_entropy(logits, targets, options).value().item();
    };
    CHECK(loss({}) == doctest::Approx((std::log(3) + std::log(2)) / 2).epsilon(1e-14));
    CrossEntropyOptions options;
    options.reduction = Reduction::sum;
    CHECK(loss(options) == doctest::Approx(std::log(6)).epsilon(1e-14));
    options.label_smoothing = 0.3;  // a tenth on each class, 0.7 more on the target
    CHECK(loss(options) ==
          doctest::Approx(0.7 * std::log(6) + 0.1 * (std::log(6 * 3 * 2) + std::log(2 * 10 * 2.5))).epsilon(1e-14));
    options = {};
    options.class_weights = Tensor::from({2, 5, 7}, {3}, DType::f64);
    CHECK(loss(options) == doctest::Approx((5 * std::log(3) + 2 * std::log(2)) / 7).epsilon(1e-14));
    options.ignore_index = 1;
    CHECK(loss(options) == doctest::Approx(std::log(2)).epsilon(1e-14));
    options.reduction = Reduction::none;
    options.row_weights = Tensor::from({9, -1}, {2}, DType::f64);
    CHECK(cross_entropy(logits, targets, options).value().at(0) == 0);
    CHECK(cross_entropy(logits, targets, options).value().at(1) == doctest::Approx(-2 * std::log(2)).epsilon(1e-14));
  }

  TEST_CASE("rows that are all ignored sum to 0 and have no mean") {
    CrossEntropyOptions options;
    options.ignore_index = 1;
    options.reduction = Reduction::sum;
    const Ids targets({1, 1});
    const Var x = watch(known_logits()), w = watch(Tensor::full({4, 3}, 1, DType::f64));
    Tape tape;
    const Var loss = cross_entropy(x, targets, options);
    const LossOutput fused = linear_cross_entropy(x, w, {}, targets, options);
    CHECK(loss.value().item() == 0);
    CHECK((fused.objective.value().item() == 0 && fused.nll == 0 && fused.count == 0));
    const Gradients gradients = tape.backward(loss + fused.objective);
    CHECK(gradients[x].values() == std::vector<double>(6, 0));
    CHECK(gradients[w].values() == std::vector<double>(12, 0));
    const NoRecord evaluation;
    options.reduction = Reduction::mean;
    CHECK(std::isnan(cross_entropy(x, targets, options).value().item()));
    CHECK(std::isnan(linear_cross_entropy(x, w, {}, targets, options).objective.value().item()));
  }

  TEST_CASE("cross-entropy equals its twin") {
    const Ids targets({3, 0, 2, 5, 2, 0, 1, 4, 4, 3, 0, 6}, {3, 4});
    for (std::size_t set = 0; set < 3; ++set) {
      for (const Reduction reduction : {Reduction::none, Reduction::sum, Reduction::mean}) {
        const auto with = [&](const auto& op) {
          return [&, op](const std::vector<Var>& in) {
            CrossEntropyOptions options = option_sets(12, 7, in[0].dtype())[set];
            options.reduction = reduction;
            return std::vector{op(in[0], targets, options)};
          };
        };
        check_twins({{3, 4, 7}}, with(cross_entropy), with(cross_entropy_reference));
      }
    }
  }

  TEST_CASE("linear and cross-entropy in one equal their twin, over several blocks of rows") {
    const Index rows = 700, classes = 21, depth = 5;
    core::Random random(8);
    std::vector<std::int32_t> ids(static_cast<std::size_t>(rows));
    for (auto& id : ids) id = static_cast<std::int32_t>(random.below(classes));
    const Ids targets(std::move(ids), {10, 70});
    for (std::size_t set = 0; set < 3; ++set) {
      for (const bool bias : {false, true}) {
        const auto with = [&](const auto& op) {
          return [&, op](const std::vector<Var>& in) {
            const auto options = option_sets(rows, classes, in[0].dtype())[set];
            return std::vector{op(in[0], in[1], bias ? in[2] : Var(), targets, options).objective};
          };
        };
        std::vector<Shape> shapes = {{10, 70, depth}, {classes, depth}};
        if (bias) shapes.push_back({classes});
        check_twins(shapes, with(linear_cross_entropy), with(linear_cross_entropy_reference));
      }
      const auto options = option_sets(rows, classes, DType::f64)[set];
      const Var x = random_tensor(random, {10, 70, depth}, DType::f64),
                w = random_tensor(random, {classes, depth}, DType::f64);
      const LossOutput a = linear_cross_entropy(x, w, {}, targets, options),
                       b = linear_cross_entropy_reference(x, w, {}, targets, options);
      CHECK(a.nll == doctest::Approx(b.nll).epsilon(1e-13));
      CHECK(a.count == b.count);
    }
  }

  TEST_CASE("a fused loss accumulates into gradients that others use too, scaled by its cotangent") {
    core::Random random(9);
    const Var x = watch(random_tensor(random, {6, 3}, DType::f64)),
              w = watch(random_tensor(random, {4, 3}, DType::f64));
    const Ids targets({0, 1, 2, 3, 0, 1});
    const auto gradient = [&](double factor, bool also) {
      Tape tape;
      Var loss = linear_cross_entropy(x, w, {}, targets).objective * factor;
      if (also) loss = loss + sum(w);
      return tape.backward(loss)[w];
    };
    const Tensor once = gradient(1, false), more = gradient(-2.5, true);
    for (Index i = 0; i < 12; ++i) CHECK(more.at(i) == doctest::Approx(-2.5 * once.at(i) + 1).epsilon(1e-12));
  }

  TEST_CASE("cross-entropy in f32 is the f64 one to a few units of the last place, and survives large logits") {
    core::Random random(5);
    const Tensor x = Tensor::empty({4, 10007}, DType::f32);
    for (Index i = 0; i < x.numel(); ++i) x.set(i, 1000 + 5 * random.normal());
    const Ids targets({1, 100, 9999, 10006});
    CrossEntropyOptions options;
    options.label_smoothing = 0.1;
    const double single = cross_entropy(x, targets, options).value().item();
    const double twice = cross_entropy(x.to(DType::f64), targets, options).value().item();
    CHECK(std::abs(single - twice) < 4 * 6e-8 * twice);
  }

  TEST_CASE("mean squared error") {
    const Var a = Tensor::from({1, 2, 3}, {3}, DType::f64), b = Tensor::from({1, 4, 0}, {3}, DType::f64);
    CHECK(mse_loss(a, b).value().item() == doctest::Approx(13 / 3.0));
    CHECK(mse_loss(a, b, Reduction::sum).value().item() == 13);
    CHECK(mse_loss(a, b, Reduction::none).value().values() == std::vector<double>{0, 4, 9});
    CHECK_THROWS_WITH(mse_loss(a, Tensor::zeros({1}, DType::f64)),
                      "mse_loss: both must have one shape; given [3] and [1]");
  }

  TEST_CASE("losses refuse what does not fit") {
    const Var x = Tensor::zeros({2, 3}, DType::f32), w = Tensor::zeros({5, 3}, DType::f32);
    CHECK_THROWS_WITH(cross_entropy(x, Ids({0, 3})),
                      "cross_entropy: targets must lie in [0, 3) or be the ignored -100; given 3");
    CHECK_THROWS_WITH(cross_entropy(x, Ids({0})), "cross_entropy: targets must be [2] for [2, 3]; given [1]");
    CrossEntropyOptions options;
    options.label_smoothing = 1.5;
    CHECK_THROWS_WITH(cross_entropy(x, Ids({0, 1}), options),
                      "cross_entropy: label smoothing must lie in [0, 1]; given 1.5");
    options = {};
    options.class_weights = Tensor::zeros({2}, DType::f32);
    CHECK_THROWS_WITH(cross_entropy(x, Ids({0, 1}), options), "cross_entropy: class weights must be [3]; given [2]");
    options = {};
    options.row_weights = Tensor::zeros({2}, DType::f64);
    CHECK_THROWS_WITH(cross_entropy(x, Ids({0, 1}), options),
                      "cross_entropy: weights must be f32 as the logits are; given f64");
    CHECK_THROWS_WITH(linear_cross_entropy(x, Tensor::zeros({5, 4}, DType::f32), {}, Ids({0, 1})),
                      "linear_cross_entropy: the weight must be [V,3] for [2, 3]; given [5, 4]");
    options = {};
    options.reduction = Reduction::none;
    CHECK_THROWS_WITH(linear_cross_entropy(x, w, {}, Ids({0, 1}), options),
                      "linear_cross_entropy: losses are added up; given a reduction of none");
  }
}
