#include "autograd/recurrent.h"

#include <doctest/doctest.h>

#include <cmath>

#include "autograd/ops.h"
#include "tests/twins.h"

using namespace tapestry;

namespace {

std::vector<Var> both(const GruOutput& output) {
  return {output.y, output.h_n};
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("a GRU cell of width 1 by hand") {
    const auto t = [](std::initializer_list<double> values, const Shape& shape) {
      return Tensor::from(values, shape, DType::f64);
    };
    // Rows r, z, n, each with another weight, so that exchanged gates show.
    const Var h = gru_cell(t({2}, {1, 1}), t({0.5}, {1, 1}), t({0.1, -0.3, 0.7}, {3, 1}), t({0.4, 0.2, -0.6}, {3, 1}),
                           t({0.05, 0.15, -0.25}, {3}), t({-0.1, 0.3, 0.2}, {3}));
    const auto sigma = [](double x) { return 1 / (1 + std::exp(-x)); };
    const double r = sigma(0.1 * 2 + 0.05 + 0.4 * 0.5 - 0.1), z = sigma(-0.3 * 2 + 0.15 + 0.2 * 0.5 + 0.3);
    const double n = std::tanh(0.7 * 2 - 0.25 + r * (-0.6 * 0.5 + 0.2));
    CHECK(h.value().item() == doctest::Approx((1 - z) * n + z * 0.5).epsilon(1e-14));
  }

  TEST_CASE("the fused cell equals the plain one") {
    for (const Index hidden : {1, 5, 16, 19}) {
      const Index input = 7, batch = 3;
      check_twins(
          {{batch, input}, {batch, hidden}, {3 * hidden, input}, {3 * hidden, hidden}, {3 * hidden}, {3 * hidden}},
          [](const auto& in) { return std::vector{gru_cell(in[0], in[1], in[2], in[3], in[4], in[5])}; },
          [](const auto& in) { return std::vector{gru_cell_reference(in[0], in[1], in[2], in[3], in[4], in[5])}; });
    }
  }

  TEST_CASE("the fused sequence equals the plain one, with and without lengths, states and biases") {
    const Index batch = 4, steps = 6, input = 3, hidden = 10;
    const std::vector<Shape> shapes = {{batch, steps, input}, {batch, hidden}, {3 * hidden, input},
                                       {3 * hidden, hidden},  {3 * hidden},    {3 * hidden}};
    for (const Ids& lengths : {Ids(), Ids({6, 0, 3, 1})}) {
      for (const bool reverse : {false, true}) {
        CAPTURE(reverse);
        CAPTURE(static_cast<bool>(lengths));
        check_twins(
            shapes,
            [&](const auto& in) { return both(gru(in[0], in[1], in[2], in[3], in[4], in[5], lengths, reverse)); },
            [&](const auto& in) {
              return both(gru_reference(in[0], in[1], in[2], in[3], in[4], in[5], lengths, reverse));
            });
        check_twins(
            {shapes[0], shapes[2], shapes[3], shapes[5]},
            [&](const auto& in) { return both(gru(in[0], {}, in[1], in[2], {}, in[3], lengths, reverse)); },
            [&](const auto& in) { return both(gru_reference(in[0], {}, in[1], in[2], {}, in[3], lengths, reverse)); });
      }
    }
  }

  TEST_CASE("padding changes no real state, and nothing flows into it") {
    core::Random random(3);
    const Tensor x = random_tensor(random, {2, 5, 3}, DType::f64), other = x.clone();
    for (Index i = 2 * 3; i < 5 * 3; ++i) other.set(i, 100);  // sentence 0 is two tokens long
    const Var w_ih = random_tensor(random, {12, 3}, DType::f64), w_hh = random_tensor(random, {12, 4}, DType::f64),
              h0 = random_tensor(random, {2, 4}, DType::f64);
    for (const bool reverse : {false, true}) {
      const Ids lengths({2, 5});
      const GruOutput a = gru(x, h0, w_ih, w_hh, {}, {}, lengths, reverse);
      const GruOutput b = gru(other, h0, w_ih, w_hh, {}, {}, lengths, reverse);
      CHECK(a.y.value().values() == b.y.value().values());
      CHECK(a.h_n.value().values() == b.h_n.value().values());
      for (Index i = 2 * 4; i < 5 * 4; ++i) CHECK(a.y.value().at(i) == 0);
      // The short sentence alone and without padding is the same sentence.
      const GruOutput alone = gru(slice(select(x, 0, 0), 0, 0, 2).value().reshape({1, 2, 3}), h0.value().rows(0, 1),
                                  w_ih, w_hh, {}, {}, {}, reverse);
      for (Index i = 0; i < 4; ++i)
        CHECK(alone.h_n.value().at(i) == doctest::Approx(a.h_n.value().at(i)).epsilon(1e-12));

      const Var watched = watch(other);
      Tape tape;
      const GruOutput c = gru(watched, h0, w_ih, w_hh, {}, {}, lengths, reverse);
      const Tensor dx = tape.backward(sum(c.y) + sum(c.h_n))[watched];
      for (Index i = 2 * 3; i < 5 * 3; ++i) CHECK(dx.at(i) == 0);
    }
  }

  TEST_CASE("a sequence is its cells, bit for bit") {
    core::Random random(4);
    const Var x = random_tensor(random, {3, 4, 6}, DType::f32), w_ih = random_tensor(random, {27, 6}, DType::f32),
              w_hh = random_tensor(random, {27, 9}, DType::f32), b_ih = random_tensor(random, {27}, DType::f32),
              b_hh = random_tensor(random, {27}, DType::f32);
    Var h = random_tensor(random, {3, 9}, DType::f32);
    const GruOutput whole = gru(x, h, w_ih, w_hh, b_ih, b_hh);
    for (Index t = 0; t < 4; ++t) {
      h = gru_cell(select(x, 1, t), h, w_ih, w_hh, b_ih, b_hh);
      CHECK(select(whole.y, 1, t).value().values() == h.value().values());
    }
  }

  TEST_CASE("what does not fit is refused") {
    const auto t = [](const Shape& shape) { return Var(Tensor::zeros(shape, DType::f32)); };
    const Var x = t({2, 3, 4}), h = t({2, 5}), w_ih = t({15, 4}), w_hh = t({15, 5}), b = t({15});
    CHECK_THROWS_WITH(gru(t({2, 4}), h, w_ih, w_hh, b, b), "gru: x must be [B,T,I]; given [2, 4]");
    CHECK_THROWS_WITH(gru_cell(x, h, w_ih, w_hh, b, b), "gru_cell: x must be [B,I]; given [2, 3, 4]");
    CHECK_THROWS_WITH(gru(x, h, w_ih, t({16, 5}), b, b), "gru: w_hh must be [3H,H]; given [16, 5]");
    CHECK_THROWS_WITH(gru(x, h, t({15, 3}), w_hh, b, b), "gru: w_ih must be [15, 4]; given [15, 3]");
    CHECK_THROWS_WITH(gru(x, t({3, 5}), w_ih, w_hh, b, b), "gru: the first state must be [2, 5]; given [3, 5]");
    CHECK_THROWS_WITH(gru(x, h, w_ih, w_hh, b, t({5})), "gru: b_hh must be [15]; given [5]");
    CHECK_THROWS_WITH(gru(x, h, w_ih, w_hh, b, b, Ids({1})), "gru: lengths must be [2]; given [1]");
    CHECK_THROWS_WITH(gru(x, h, w_ih, w_hh, b, b, Ids({1, 4})), "gru: lengths must lie in [0, 3]; given 4");
    CHECK_THROWS_WITH(gru(x, h, Tensor::zeros({15, 4}, DType::f64), w_hh, b, b),
                      "gru: all inputs must have one dtype; f32 [2, 3, 4] and f64 [15, 4]");
  }
}
