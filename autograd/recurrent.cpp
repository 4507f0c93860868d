#include "autograd/recurrent.h"

#include "autograd/ops.h"
#include "autograd/record.h"
#include "core/recurrent.h"

namespace tapestry {
namespace {

using core::Cell;
using Seven = std::initializer_list<std::reference_wrapper<const Var>>;  // {x, h0, c0, w_ih, w_hh, b_ih, b_hh}
const Var none;

// The kernel's inputs, checked, of x [B,T,I].
core::RecurrentInputs arguments(Cell cell, const char* op, Tensor x, const Seven& inputs, const Ids& lengths,
                                bool reverse) {
  const auto value = [&](int i) { return (inputs.begin() + i)->get().value(); };
  core::RecurrentInputs in{cell,     std::move(x), value(1), value(2), value(3),
                           value(4), value(5),     value(6), lengths,  reverse};
  in.check(op);
  return in;
}

// Places for the gradients of the inputs, in the shapes of the kernel.
core::RecurrentGradients destinations(Grads& dx) {
  const auto place = [&](std::size_t i) { return dx.into_if_wanted(i); };
  return {place(0), place(1), place(2), place(3), place(4), place(5), place(6)};
}

// A step is a sequence of one: x [B,1,I]. Outputs h' and of an LSTM c'. The derivation of backward stands beside the
// kernel.
std::vector<Var> step(Cell cell, const char* op, const Seven& inputs) {
  const Var& x = *inputs.begin();
  require(x && x.rank() == 2, "{}: x must be [B,I]; given {}", op, x.value());
  auto in = arguments(cell, op, x.value().reshape({x.size(0), 1, x.size(1)}), inputs, {}, false);
  core::RecurrentResult result = core::recurrent(in, recording(inputs));
  std::vector<Tensor> outputs{result.y.reshape({in.batch(), in.hidden()})};
  if (cell == Cell::lstm) outputs.push_back(core::last_cell_state(in, result));
  return record(op, outputs, inputs,
                [in = std::move(in), result = std::move(result)](std::span<const Tensor> dy, Grads& dx) {
                  core::recurrent_backward(in, result, {}, dy[0], dy.size() > 1 ? dy[1] : Tensor(), destinations(dx));
                });
}

RecurrentOutput sequence(Cell cell, const char* op, const Seven& inputs, const Ids& lengths, bool reverse) {
  const Var& x = *inputs.begin();
  require(x && x.rank() == 3, "{}: x must be [B,T,I]; given {}", op, x.value());
  auto in = arguments(cell, op, x.value(), inputs, lengths, reverse);
  core::RecurrentResult result = core::recurrent(in, recording(inputs));
  std::vector<Tensor> outputs{result.y, core::last_state(in, result)};
  if (cell == Cell::lstm) outputs.push_back(core::last_cell_state(in, result));
  auto all = record(
      op, outputs, inputs, [in = std::move(in), result = std::move(result)](std::span<const Tensor> dy, Grads& dx) {
        core::recurrent_backward(in, result, dy[0], dy[1], dy.size() > 2 ? dy[2] : Tensor(), destinations(dx));
      });
  return {std::move(all[0]), std::move(all[1]), cell == Cell::lstm ? std::move(all[2]) : Var()};
}

// next(x_t [B,I], state) along the sequence; a state of the start that is wanted has a value.
template <class Next>
RecurrentOutput walk(const Var& x, RecurrentState state, const Ids& lengths, bool reverse, Next next) {
  const Index batch = x.size(0), steps = x.size(1);
  const Var zeros = Tensor::zeros(state.h.shape(), x.dtype());
  std::vector<Var> y(static_cast<std::size_t>(steps));
  for (Index step = 0; step < steps; ++step) {
    const Index t = reverse ? steps - 1 - step : step;
    const RecurrentState now = next(select(x, 1, t), state);
    std::vector<std::int32_t> real(static_cast<std::size_t>(batch));
    for (Index b = 0; b < batch; ++b) real[static_cast<std::size_t>(b)] = !lengths || t < lengths[b];
    const Ids within(std::move(real), {batch, 1});
    y[static_cast<std::size_t>(t)] = where(within, now.h, zeros);
    state.h = where(within, now.h, state.h);
    if (state.c) state.c = where(within, now.c, state.c);
  }
  return {stack(y, 1), state.h, state.c};
}

Var or_zeros(const Var& state, const Var& x, const Var& w_hh) {
  return state ? state : Var(Tensor::zeros({x.size(0), w_hh.size(1)}, x.dtype()));
}

}  // namespace

Var rnn_cell(const Var& x, const Var& h, const Var& w_ih, const Var& w_hh, const Var& b_ih, const Var& b_hh) {
  return step(Cell::rnn, "rnn_cell", {x, h, none, w_ih, w_hh, b_ih, b_hh})[0];
}

Var gru_cell(const Var& x, const Var& h, const Var& w_ih, const Var& w_hh, const Var& b_ih, const Var& b_hh) {
  return step(Cell::gru, "gru_cell", {x, h, none, w_ih, w_hh, b_ih, b_hh})[0];
}

RecurrentState lstm_cell(const Var& x, const Var& h, const Var& c, const Var& w_ih, const Var& w_hh, const Var& b_ih,
                         const Var& b_hh) {
  auto next = step(Cell::lstm, "lstm_cell", {x, h, c, w_ih, w_hh, b_ih, b_hh});
  return {std::move(next[0]), std::move(next[1])};
}

RecurrentOutput rnn(const Var& x, const Var& h0, const Var& w_ih, const Var& w_hh, const Var& b_ih, const Var& b_hh,
                    const Ids& lengths, bool reverse) {
  return sequence(Cell::rnn, "rnn", {x, h0, none, w_ih, w_hh, b_ih, b_hh}, lengths, reverse);
}

RecurrentOutput gru(const Var& x, const Var& h0, const Var& w_ih, const Var& w_hh, const Var& b_ih, const Var& b_hh,
                    const Ids& lengths, bool reverse) {
  return sequence(Cell::gru, "gru", {x, h0, none, w_ih, w_hh, b_ih, b_hh}, lengths, reverse);
}

RecurrentOutput lstm(const Var& x, const Var& h0, const Var& c0, const Var& w_ih, const Var& w_hh, const Var& b_ih,
                     const Var& b_hh, const Ids& lengths, bool reverse) {
  return sequence(Cell::lstm, "lstm", {x, h0, c0, w_ih, w_hh, b_ih, b_hh}, lengths, reverse);
}

Var rnn_cell_reference(const Var& x, const Var& h, const Var& w_ih, const Var& w_hh, const Var& b_ih, const Var& b_hh) {
  return tanh(linear(x, w_ih, b_ih) + linear(h, w_hh, b_hh));
}

Var gru_cell_reference(const Var& x, const Var& h, const Var& w_ih, const Var& w_hh, const Var& b_ih, const Var& b_hh) {
  const Index hidden = w_hh.size(1);
  const std::vector<Index> thirds(3, hidden);
  const auto from_x = split(linear(x, w_ih, b_ih), thirds, 1);  // r, z, n, each [B,H]
  const auto from_h = split(linear(h, w_hh, b_hh), thirds, 1);
  const Var r = sigmoid(from_x[0] + from_h[0]);
  const Var z = sigmoid(from_x[1] + from_h[1]);
  const Var n = tanh(from_x[2] + r * from_h[2]);
  return (1 - z) * n + z * h;
}

RecurrentState lstm_cell_reference(const Var& x, const Var& h, const Var& c, const Var& w_ih, const Var& w_hh,
                                   const Var& b_ih, const Var& b_hh) {
  const std::vector<Index> quarters(4, w_hh.size(1));
  const auto sums = split(linear(x, w_ih, b_ih) + linear(h, w_hh, b_hh), quarters, 1);  // i, f, g, o, each [B,H]
  const Var next = sigmoid(sums[1]) * c + sigmoid(sums[0]) * tanh(sums[2]);
  return {sigmoid(sums[3]) * tanh(next), next};
}

RecurrentOutput rnn_reference(const Var& x, const Var& h0, const Var& w_ih, const Var& w_hh, const Var& b_ih,
                              const Var& b_hh, const Ids& lengths, bool reverse) {
  return walk(x, {or_zeros(h0, x, w_hh), {}}, lengths, reverse, [&](const Var& x_t, const RecurrentState& s) {
    return RecurrentState{rnn_cell_reference(x_t, s.h, w_ih, w_hh, b_ih, b_hh), {}};
  });
}

RecurrentOutput gru_reference(const Var& x, const Var& h0, const Var& w_ih, const Var& w_hh, const Var& b_ih,
                              const Var& b_hh, const Ids& lengths, bool reverse) {
  return walk(x, {or_zeros(h0, x, w_hh), {}}, lengths, reverse, [&](const Var& x_t, const RecurrentState& s) {
    return RecurrentState{gru_cell_reference(x_t, s.h, w_ih, w_hh, b_ih, b_hh), {}};
  });
}

RecurrentOutput lstm_reference(const Var& x, const Var& h0, const Var& c0, const Var& w_ih, const Var& w_hh,
                               const Var& b_ih, const Var& b_hh, const Ids& lengths, bool reverse) {
  return walk(x, {or_zeros(h0, x, w_hh), or_zeros(c0, x, w_hh)}, lengths, reverse,
              [&](const Var& x_t, const RecurrentState& s) {
                return lstm_cell_reference(x_t, s.h, s.c, w_ih, w_hh, b_ih, b_hh);
              });
}

}  // namespace tapestry
