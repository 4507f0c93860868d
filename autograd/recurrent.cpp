#include "autograd/recurrent.h"

#include <array>

#include "autograd/ops.h"
#include "autograd/record.h"
#include "core/recurrent.h"

namespace tapestry {
namespace {

// Places for the gradients of {x, h0, w_ih, w_hh, b_ih, b_hh}, in the shapes of the kernel.
core::GruGradients destinations(Grads& dx) {
  return {dx.into_if_wanted(0), dx.into_if_wanted(1), dx.into_if_wanted(2),
          dx.into_if_wanted(3), dx.into_if_wanted(4), dx.into_if_wanted(5)};
}

}  // namespace

// A step is a sequence of one: x [B,1,I]. The derivation of backward stands beside the kernel.
Var gru_cell(const Var& x, const Var& h, const Var& w_ih, const Var& w_hh, const Var& b_ih, const Var& b_hh) {
  require(x && x.rank() == 2, "gru_cell: x must be [B,I]; given {}", x.value());
  core::GruInputs in{
      x.value().reshape({x.size(0), 1, x.size(1)}), h.value(), w_ih.value(), w_hh.value(), b_ih.value(), b_hh.value()};
  in.check("gru_cell");
  const std::initializer_list<std::reference_wrapper<const Var>> inputs = {x, h, w_ih, w_hh, b_ih, b_hh};
  core::GruResult result = core::gru(in, recording(inputs));
  const Tensor next = result.y.reshape({in.batch(), in.hidden()});
  return record("gru_cell", next, inputs,
                [in = std::move(in), result = std::move(result)](const Tensor& dnext, Grads& dx) {
                  core::gru_backward(in, result, {}, dnext, destinations(dx));
                });
}

GruOutput gru(const Var& x, const Var& h0, const Var& w_ih, const Var& w_hh, const Var& b_ih, const Var& b_hh,
              const Ids& lengths, bool reverse) {
  require(x && x.rank() == 3, "gru: x must be [B,T,I]; given {}", x.value());
  core::GruInputs in{x.value(), h0.value(), w_ih.value(), w_hh.value(), b_ih.value(), b_hh.value(), lengths, reverse};
  in.check("gru");
  const std::initializer_list<std::reference_wrapper<const Var>> inputs = {x, h0, w_ih, w_hh, b_ih, b_hh};
  core::GruResult result = core::gru(in, recording(inputs));
  const Tensor y = result.y, last = core::gru_last_state(in, result);
  auto outputs = record("gru", {y, last}, inputs,
                        [in = std::move(in), result = std::move(result)](std::span<const Tensor> dy, Grads& dx) {
                          core::gru_backward(in, result, dy[0], dy[1], destinations(dx));
                        });
  return {std::move(outputs[0]), std::move(outputs[1])};
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

GruOutput gru_reference(const Var& x, const Var& h0, const Var& w_ih, const Var& w_hh, const Var& b_ih, const Var& b_hh,
                        const Ids& lengths, bool reverse) {
  const Index batch = x.size(0), steps = x.size(1);
  const Var zeros = Tensor::zeros({batch, w_hh.size(1)}, x.dtype());
  Var h = h0 ? h0 : zeros;
  std::vector<Var> y(static_cast<std::size_t>(steps));
  for (Index step = 0; step < steps; ++step) {
    const Index t = reverse ? steps - 1 - step : step;
    const Var next = gru_cell_reference(select(x, 1, t), h, w_ih, w_hh, b_ih, b_hh);
    std::vector<std::int32_t> real(static_cast<std::size_t>(batch));
    for (Index b = 0; b < batch; ++b) real[static_cast<std::size_t>(b)] = !lengths || t < lengths[b];
    const Ids within(std::move(real), {batch, 1});
    y[static_cast<std::size_t>(t)] = where(within, next, zeros);
    h = where(within, next, h);
  }
  return {stack(y, 1), h};
}

}  // namespace tapestry
