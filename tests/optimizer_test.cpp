#include "optim/optimizer.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "optim/clip.h"

using namespace tapestry;

namespace {

Tensor vector(std::initializer_list<double> values) {
  return Tensor::from(values, {static_cast<Index>(values.size())}, DType::f64);
}
using Values = std::vector<double>;

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("SGD with momentum, two steps by hand") {
    const Tensor p = vector({1});
    Sgd sgd({p}, {.momentum = 0.5, .weight_decay = 0.1});
    const Tensor g = vector({2});
    sgd.step(std::span(&g, 1), 0.1);  // d = 2 + 0.1, b = 2.1, p = 1 - 0.21
    CHECK(p.at(0) == doctest::Approx(0.79));
    CHECK(g.at(0) == 0);  // zeroed
    g.fill(1);
    sgd.step(std::span(&g, 1), 0.1);  // d = 1.079, b = 1.05 + 1.079 = 2.129
    CHECK(p.at(0) == doctest::Approx(0.5771));
  }

  TEST_CASE("Nesterov looks ahead") {
    const Tensor p = vector({0});
    Sgd sgd({p}, {.momentum = 0.5, .nesterov = true});
    const Tensor g = vector({2});
    sgd.step(std::span(&g, 1), 1);  // d = 2 + 0.5 2
    CHECK(p.at(0) == -3);
    CHECK_THROWS_WITH_AS(Sgd({p}, {.nesterov = true}),
                         "sgd: Nesterov needs a momentum above 0 and no dampening; given 0 and 0", Error);
  }

  TEST_CASE("Adam's first step is the rate, whatever the gradient's size; its second by hand") {
    const Tensor p = vector({1, 1, 1});
    Adam adam({p});
    const Tensor g = vector({1e-3, -5, 0});
    adam.step(std::span(&g, 1), 0.1);
    CHECK(p.at(0) == doctest::Approx(0.9).epsilon(1e-5));
    CHECK(p.at(1) == doctest::Approx(1.1).epsilon(1e-5));
    CHECK(p.at(2) == 1);
    g.set(1, 1);
    adam.step(std::span(&g, 1), 0.1);
    const double m = 0.9 * -0.5 + 0.1, v = 0.999 * 0.025 + 0.001;
    CHECK(p.at(1) == doctest::Approx(1.1 - 0.1 * (m / 0.19) / std::sqrt(v / (1 - 0.999 * 0.999))));
    CHECK(adam.updates() == 2);
  }

  TEST_CASE("decoupled decay shrinks the parameter, L2 goes through the moments") {
    const Tensor w = vector({2}), a = vector({2});
    Adam decoupled({w}, {.weight_decay = 0.5, .decoupled = true}), l2({a}, {.weight_decay = 0.5});
    const Tensor zero = vector({0}), none = vector({0});
    decoupled.step(std::span(&zero, 1), 0.1);
    l2.step(std::span(&none, 1), 0.1);
    CHECK(w.at(0) == doctest::Approx(1.9));
    CHECK(a.at(0) == doctest::Approx(1.9).epsilon(1e-6));  // the gradient is 1: one full step
  }

  TEST_CASE("norms of all gradients as one vector") {
    const std::vector<Tensor> g{vector({3, -4}), vector({12})};
    CHECK(total_norm(g) == 13);
    CHECK(total_norm(g, 1) == 19);
    CHECK(total_norm(g, 3) == doctest::Approx(std::cbrt(27.0 + 64 + 1728)));
    CHECK(total_norm(g, std::numeric_limits<double>::infinity()) == 12);
    g[1].set(0, std::nan(""));
    CHECK(std::isnan(total_norm(g)));
    CHECK(std::isnan(total_norm(g, std::numeric_limits<double>::infinity())));
    CHECK_THROWS_WITH_AS(total_norm(g, 0), "total_norm: the order of the norm must be above 0; given 0", Error);
  }

  TEST_CASE("clipping scales what is too long and leaves the rest") {
    CHECK(clip_factor(4, 1) == 0.25);
    CHECK(clip_factor(0.5, 1) == 1);
    CHECK(clip_factor(1, 1, 1e-6) == 1 / (1 + 1e-6));
    const std::vector<Tensor> g{vector({-3, 0.2, 5})};
    clip_by_value(g, 1);
    CHECK(g[0].values() == Values{-1, 0.2, 1});
    scale(g, 2);
    CHECK(g[0].values() == Values{-2, 0.4, 2});
    CHECK_THROWS_WITH_AS(clip_factor(1, 0), "clip: the largest norm must be above 0; given 0", Error);
  }

  TEST_CASE("gather adds the shards, divides, zeroes the others and gives the squares") {
    const std::vector<Tensor> shards{vector({1, 2}), vector({3, 4}), vector({5, 0})};
    CHECK(gather(shards, 3) == doctest::Approx(9 + 4));
    CHECK(shards[0].values() == Values{3, 2});
    CHECK(shards[1].values() == Values{0, 0});
    CHECK(shards[2].values() == Values{0, 0});
  }

  TEST_CASE("an optimiser refuses gradients that are not its parameters'") {
    const Tensor p = vector({1, 2}), g = vector({1});
    Adam adam({p});
    CHECK_THROWS_WITH_AS(adam.step(std::span(&g, 1), 0.1), "optimizer: the gradient must be [2]; given [1]", Error);
    CHECK_THROWS_WITH_AS(adam.step(std::span<const Tensor>(), 0.1), "optimizer: 1 gradients are needed; given 0",
                         Error);
  }
}
