#include "autograd/recurrent.h"

#include <doctest/doctest.h>

#include <cmath>

#include "autograd/ops.h"
#include "tests/twins.h"

using namespace tapestry;

namespace {

using Vars = std::vector<Var>;

// A cell and its sequences, fused or of plain ops, as functions of {x, h, w_ih, w_hh, b_ih, b_hh, c}.
struct Ops {
  std::function<RecurrentState(const Vars&)> cell;
  std::function<RecurrentOutput(const Vars&, const Ids&, bool)> sequence;
};

template <class Cell, class Sequence>
Ops of_one_state(Cell cell, Sequence sequence) {
  return {[=](const Vars& in) {
            return RecurrentState{cell(in[0], in[1], in[2], in[3], in[4], in[5]), {}};
          },
          [=](const Vars& in, const Ids& lengths, bool reverse) {
            return sequence(in[0], in[1], in[2], in[3], in[4], in[5], lengths, reverse);
          }};
}

template <class Cell, class Sequence>
Ops of_two_states(Cell cell, Sequence sequence) {
  return {[=](const Vars& in) { return cell(in[0], in[1], in[6], in[2], in[3], in[4], in[5]); },
          [=](const Vars& in, const Ids& lengths, bool reverse) {
            return sequence(in[0], in[1], in[6], in[2], in[3], in[4], in[5], lengths, reverse);
          }};
}

struct Kind {
  const char* name;
  Index gates;
  Ops fused, plain;
  bool two_states() const { return gates == 4; }
};

std::vector<Kind> kinds() {
  return {{"rnn", 1, of_one_state(rnn_cell, rnn), of_one_state(rnn_cell_reference, rnn_reference)},
          {"gru", 3, of_one_state(gru_cell, gru), of_one_state(gru_cell_reference, gru_reference)},
          {"lstm", 4, of_two_states(lstm_cell, lstm), of_two_states(lstm_cell_reference, lstm_reference)}};
}

Vars all_of(const RecurrentState& state) {
  return state.c ? Vars{state.h, state.c} : Vars{state.h};
}

Vars all_of(const RecurrentOutput& output) {
  return output.c_n ? Vars{output.y, output.h_n, output.c_n} : Vars{output.y, output.h_n};
}

// Of x [B,I] or [B,T,I], in the order of the functions above.
std::vector<Shape> shapes_of(const Kind& kind, const Shape& x, Index hidden) {
  const Index rows = kind.gates * hidden, batch = x[0];
  std::vector<Shape> shapes{x, {batch, hidden}, {rows, x[-1]}, {rows, hidden}, {rows}, {rows}};
  if (kind.two_states()) shapes.push_back({batch, hidden});
  return shapes;
}

Vars random_inputs(const Kind& kind, const Shape& x, Index hidden, DType dtype) {
  core::Random random(3);
  Vars inputs;
  for (const Shape& shape : shapes_of(kind, x, hidden)) inputs.push_back(random_tensor(random, shape, dtype));
  return inputs;
}

Tensor f64(std::initializer_list<double> values, const Shape& shape) {
  return Tensor::from(values, shape, DType::f64);
}

double sigma(double x) {
  return 1 / (1 + std::exp(-x));
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("a GRU cell of width 1 by hand") {
    // Rows r, z, n, each with another weight, so that exchanged gates show.
    const Var h = gru_cell(f64({2}, {1, 1}), f64({0.5}, {1, 1}), f64({0.1, -0.3, 0.7}, {3, 1}),
                           f64({0.4, 0.2, -0.6}, {3, 1}), f64({0.05, 0.15, -0.25}, {3}), f64({-0.1, 0.3, 0.2}, {3}));
    const double r = sigma(0.1 * 2 + 0.05 + 0.4 * 0.5 - 0.1), z = sigma(-0.3 * 2 + 0.15 + 0.2 * 0.5 + 0.3);
    const double n = std::tanh(0.7 * 2 - 0.25 + r * (-0.6 * 0.5 + 0.2));
    CHECK(h.value().item() == doctest::Approx((1 - z) * n + z * 0.5).epsilon(1e-14));
  }

  TEST_CASE("an LSTM cell and a plain one of width 1 by hand") {
    // Rows i, f, g, o.
    const auto [h, c] = lstm_cell(f64({2}, {1, 1}), f64({0.5}, {1, 1}), f64({-0.8}, {1, 1}),
                                  f64({0.1, -0.3, 0.7, 0.2}, {4, 1}), f64({0.4, 0.2, -0.6, 0.9}, {4, 1}),
                                  f64({0.05, 0.15, -0.25, 0.35}, {4}), f64({-0.1, 0.3, 0.2, -0.4}, {4}));
    const double i = sigma(0.1 * 2 + 0.05 + 0.4 * 0.5 - 0.1), f = sigma(-0.3 * 2 + 0.15 + 0.2 * 0.5 + 0.3);
    const double g = std::tanh(0.7 * 2 - 0.25 - 0.6 * 0.5 + 0.2), o = sigma(0.2 * 2 + 0.35 + 0.9 * 0.5 - 0.4);
    CHECK(c.value().item() == doctest::Approx(f * -0.8 + i * g).epsilon(1e-14));
    CHECK(h.value().item() == doctest::Approx(o * std::tanh(f * -0.8 + i * g)).epsilon(1e-14));
    const Var plain = rnn_cell(f64({2}, {1, 1}), f64({0.5}, {1, 1}), f64({0.1}, {1, 1}), f64({0.4}, {1, 1}),
                               f64({0.05}, {1}), f64({-0.1}, {1}));
    CHECK(plain.value().item() == doctest::Approx(std::tanh(0.1 * 2 + 0.05 + 0.4 * 0.5 - 0.1)).epsilon(1e-14));
  }

  // The example of nn/README.md: all numbers are zero but one.
  TEST_CASE("how much of a state's gradient twenty steps leave") {
    const auto gradient = [](const Kind& kind, std::size_t input, Index element, double value, std::size_t state) {
      Vars in;
      for (const Shape& shape : shapes_of(kind, {1, 20, 1}, 1)) in.push_back(Var(Tensor::zeros(shape, DType::f64)));
      in[input].value().set(element, value);
      in[state] = watch(in[state].value());
      Tape tape;
      const RecurrentOutput output = kind.fused.sequence(in, {}, false);
      return tape.backward(kind.two_states() ? output.c_n : output.h_n)[in[state]].item();
    };
    CHECK(gradient(kinds()[0], 3, 0, 0.5, 1) == doctest::Approx(std::pow(0.5, 20)));     // w_hh
    CHECK(gradient(kinds()[1], 4, 1, 3, 1) == doctest::Approx(std::pow(sigma(3), 20)));  // the bias of z
    CHECK(gradient(kinds()[2], 4, 1, 3, 6) == doctest::Approx(std::pow(sigma(3), 20)));  // the bias of f
    CHECK(std::pow(sigma(3), 20) == doctest::Approx(0.378).epsilon(1e-3));
  }

  TEST_CASE("a fused cell equals the plain one") {
    for (const Kind& kind : kinds()) {
      CAPTURE(kind.name);
      for (const Index hidden : {1, 5, 16, 19}) {
        check_twins(
            shapes_of(kind, {3, 7}, hidden), [&](const auto& in) { return all_of(kind.fused.cell(in)); },
            [&](const auto& in) { return all_of(kind.plain.cell(in)); });
      }
    }
  }

  TEST_CASE("a fused sequence equals the plain one, with and without lengths, states and biases") {
    for (const Kind& kind : kinds()) {
      const std::vector<Shape> shapes = shapes_of(kind, {4, 6, 3}, 10);
      for (const Ids& lengths : {Ids(), Ids({6, 0, 3, 1})}) {
        for (const bool reverse : {false, true}) {
          CAPTURE(kind.name);
          CAPTURE(reverse);
          CAPTURE(static_cast<bool>(lengths));
          check_twins(
              shapes, [&](const auto& in) { return all_of(kind.fused.sequence(in, lengths, reverse)); },
              [&](const auto& in) { return all_of(kind.plain.sequence(in, lengths, reverse)); });
          const auto bare = [](const auto& in) { return Vars{in[0], {}, in[1], in[2], {}, in[3], {}}; };
          check_twins(
              {shapes[0], shapes[2], shapes[3], shapes[5]},
              [&](const auto& in) { return all_of(kind.fused.sequence(bare(in), lengths, reverse)); },
              [&](const auto& in) { return all_of(kind.plain.sequence(bare(in), lengths, reverse)); });
        }
      }
    }
  }

  TEST_CASE("an LSTM may be given one of its two first states") {
    const Kind lstm_kind = kinds()[2];
    const std::vector<Shape> shapes = shapes_of(lstm_kind, {4, 5, 3}, 6);
    for (const bool reverse : {false, true}) {
      for (const bool hidden : {false, true}) {
        const auto one = [=](const auto& in) {
          return hidden ? Vars{in[0], in[3], in[1], in[2], {}, {}, {}} : Vars{in[0], {}, in[1], in[2], {}, {}, in[3]};
        };
        check_twins(
            {shapes[0], shapes[2], shapes[3], shapes[1]},
            [&](const auto& in) {
              return all_of(lstm_kind.fused.sequence(one(in), Ids({5, 0, 2, 4}), reverse));
            },
            [&](const auto& in) {
              return all_of(lstm_kind.plain.sequence(one(in), Ids({5, 0, 2, 4}), reverse));
            });
      }
    }
  }

  TEST_CASE("padding changes no real state, and nothing flows into it") {
    for (const Kind& kind : kinds()) {
      Vars in = random_inputs(kind, {2, 5, 3}, 4, DType::f64), padded = in;
      padded[0] = in[0].value().clone();
      for (Index i = 2 * 3; i < 5 * 3; ++i) padded[0].value().set(i, 100);  // sentence 0 is two tokens long
      for (const bool reverse : {false, true}) {
        CAPTURE(kind.name);
        const Ids lengths({2, 5});
        const Vars a = all_of(kind.fused.sequence(in, lengths, reverse)),
                   b = all_of(kind.fused.sequence(padded, lengths, reverse));
        for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i].value().values() == b[i].value().values());
        for (Index i = 2 * 4; i < 5 * 4; ++i) CHECK(a[0].value().at(i) == 0);
        // The short sentence alone and without padding is the same sentence.
        Vars first = in;
        first[0] = slice(slice(in[0], 0, 0, 1), 1, 0, 2);
        first[1] = in[1].value().rows(0, 1);
        if (kind.two_states()) first[6] = in[6].value().rows(0, 1);
        const Vars alone = all_of(kind.fused.sequence(first, {}, reverse));
        for (std::size_t state = 1; state < a.size(); ++state)
          for (Index i = 0; i < 4; ++i)
            CHECK(alone[state].value().at(i) == doctest::Approx(a[state].value().at(i)).epsilon(1e-12));

        Vars watched = padded;
        watched[0] = watch(padded[0].value());
        Tape tape;
        const RecurrentOutput c = kind.fused.sequence(watched, lengths, reverse);
        const Tensor dx = tape.backward(sum(c.y) + sum(c.h_n))[watched[0]];
        for (Index i = 2 * 3; i < 5 * 3; ++i) CHECK(dx.at(i) == 0);
      }
    }
  }

  TEST_CASE("a sequence is its cells, bit for bit") {
    for (const Kind& kind : kinds()) {
      CAPTURE(kind.name);
      const Vars in = random_inputs(kind, {3, 4, 6}, 9, DType::f32);
      const RecurrentOutput whole = kind.fused.sequence(in, {}, false);
      Vars now = in;
      for (Index t = 0; t < 4; ++t) {
        now[0] = select(in[0], 1, t);
        const RecurrentState next = kind.fused.cell(now);
        CHECK(select(whole.y, 1, t).value().values() == next.h.value().values());
        now[1] = next.h;
        if (kind.two_states()) now[6] = next.c;
      }
      if (kind.two_states()) CHECK(whole.c_n.value().values() == now[6].value().values());
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
    CHECK_THROWS_WITH(rnn(x, h, w_ih, w_hh, b, b), "rnn: w_hh must be [H,H]; given [15, 5]");
    CHECK_THROWS_WITH(rnn_cell(x, h, w_ih, w_hh, b, b), "rnn_cell: x must be [B,I]; given [2, 3, 4]");
    CHECK_THROWS_WITH(lstm(x, h, h, w_ih, w_hh, b, b), "lstm: w_hh must be [4H,H]; given [15, 5]");
    CHECK_THROWS_WITH(lstm(x, h, t({2, 4}), t({20, 4}), t({20, 5}), {}, {}),
                      "lstm: the first cell state must be [2, 5]; given [2, 4]");
    CHECK_THROWS_WITH(lstm_cell(t({2, 4}), h, h, t({20, 4}), t({20, 5}), {}, t({15})),
                      "lstm_cell: b_hh must be [20]; given [15]");
  }
}
