#include "nn/store.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace tapestry;

TEST_SUITE("fast") {
  TEST_CASE("a parameter depends on seed and name alone, in f32 up to rounding") {
    ParameterStore a(DType::f64, 5), b(DType::f32, 5), other(DType::f64, 6);
    const Var wa = (Scope(a) / "layer").parameter("weight", {3, 4}, initialise::xavier_uniform());
    b.parameter("first", {7}, initialise::normal(1));
    const Var wb = b.parameter("layer.weight", {3, 4}, initialise::xavier_uniform());
    const Var wo = other.parameter("layer.weight", {3, 4}, initialise::xavier_uniform());
    for (Index i = 0; i < 12; ++i) {
      CHECK(wb.value().at(i) == static_cast<double>(static_cast<float>(wa.value().at(i))));
      CHECK(wo.value().at(i) != wa.value().at(i));
      CHECK(std::abs(wa.value().at(i)) <= std::sqrt(6.0 / 7));
    }
  }

  TEST_CASE("initialisers have the spread they promise") {
    ParameterStore store(DType::f64, 1);
    const auto deviation = [&](const char* name, const Initialiser& init) {
      const Var v = store.parameter(name, {200, 300}, init);
      double sum = 0;
      for (double x : v.value().values()) sum += x * x;
      return std::sqrt(sum / 60000);
    };
    CHECK(deviation("normal", initialise::normal(0.3)) == doctest::Approx(0.3).epsilon(0.02));
    // A uniform variable in (-b, b) has deviation b / sqrt(3).
    CHECK(deviation("xavier", initialise::xavier_uniform(2)) ==
          doctest::Approx(2 * std::sqrt(6.0 / 500) / std::sqrt(3.0)).epsilon(0.02));
    CHECK(deviation("fan", initialise::fan_in_uniform(16)) == doctest::Approx(0.25 / std::sqrt(3.0)).epsilon(0.02));
  }

  TEST_CASE("values never move, pieces cover them, gradients have the same layout") {
    ParameterStore store(DType::f32, 1);
    const Var first = store.parameter("a", {3}, initialise::constant(1));
    const float* const address = first.value().data<float>();
    for (int i = 0; i < 50; ++i) store.parameter(fmt::format("p{}", i), {100, 101}, initialise::constant(2));
    store.parameter("large", {1000, 300}, initialise::constant(3));
    CHECK(first.value().data<float>() == address);
    CHECK(store.elements() == 3 + 50 * 10100 + 300000);
    double sum = 0;
    for (const Tensor& piece : store.pieces()) {
      CHECK(piece.numel() <= ParameterStore::piece_elements);
      for (double x : piece.values()) sum += x;
    }
    CHECK(sum == 3 + 50 * 20200 + 900000);
    const auto gradients = store.gradients();
    gradients.by_parameter.slices[7].fill(5);
    sum = 0;
    for (const Tensor& piece : gradients.pieces)
      for (double x : piece.values()) sum += x;
    CHECK(sum == 5 * 10100);
  }

  TEST_CASE("ties are other names of one parameter") {
    ParameterStore store;
    const Var w = store.parameter("in", {2}, initialise::constant(1));
    Scope(store).tie("out", w);
    CHECK(store["out"].leaf() == w.leaf());
    CHECK(store.elements() == 2);
    CHECK_THROWS_WITH_AS(store["none"], "store: there is no parameter none", Error);
    CHECK_THROWS_WITH_AS(store.tie("in", w), "store: parameter names must be unique; in exists", Error);
    CHECK_THROWS_WITH_AS(store.tie("x", watch(Tensor::zeros({2}, DType::f32))),
                         "store: x must be tied to a parameter of this store", Error);
    CHECK_THROWS_WITH_AS(store.parameter("out", {1}, initialise::constant(0)),
                         "store: parameter names must be unique; out exists", Error);
  }
}
