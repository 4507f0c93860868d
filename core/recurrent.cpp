#include "core/recurrent.h"

#include <algorithm>
#include <vector>

#include "core/gemm.h"
#include "core/recurrent_cells.h"

namespace tapestry::core {
namespace {

// Addresses of one time step in batch-major buffers: row b is at data + b * ld.
template <class T>
struct Rows {
  T* data = nullptr;  // none: zeros
  Index ld = 0;
  const T* row(Index b, const T* zeros) const { return data != nullptr ? data + b * ld : zeros; }
};

// The arrays of a sequence of cells C, as the kernels see them.
template <class C, class T>
struct Sequence {
  const RecurrentInputs& in;
  Index batch, steps, input, hidden;
  T *gates, *states;
  std::vector<T> zeros;  // [H]

  Sequence(const RecurrentInputs& inputs, const RecurrentResult& result)
      : in(inputs),
        batch(inputs.batch()),
        steps(inputs.steps()),
        input(inputs.x.size(2)),
        hidden(inputs.hidden()),
        gates(result.gates.data<T>()),
        states(result.states.data<T>()),
        zeros(static_cast<std::size_t>(hidden), T{0}) {}

  Index width() const { return C::blocks * hidden; }  // of a row of the gates
  Index time(Index step) const { return in.reverse ? steps - 1 - step : step; }
  T* gates_at(Index b, Index t) const { return gates + (b * steps + t) * width(); }
  Rows<T> states_at(Index t) const { return {states + t * hidden, steps * hidden}; }
  Rows<T> first(const Tensor& state) const { return state ? Rows<T>{state.data<T>(), hidden} : Rows<T>{}; }
  // The states that step number `step` starts from.
  Rows<T> previous(Index step) const { return step > 0 ? states_at(time(step - 1)) : first(in.h0); }
  Rows<T> previous_cells(Index step) const {
    if constexpr (!carries_cell<C>) return {};
    return step > 0 ? Rows<T>{gates_at(0, time(step - 1)) + (C::blocks - 1) * hidden, steps * width()} : first(in.c0);
  }
};

// Rows of W_ih are columns of the gates in up to two runs: f(rows of the weight, first of them, column of the gates).
template <class C, class F>
void for_input_blocks(Index hidden, F f) {
  f((C::gates - C::recurrent) * hidden, Index{0}, C::recurrent * hidden);
  if constexpr (C::recurrent > 0) f(C::recurrent * hidden, (C::gates - C::recurrent) * hidden, Index{0});
}

template <class C, class T>
void input_product(const Sequence<C, T>& s) {
  const Index hidden = s.hidden, rows = s.batch * s.steps, width = s.width();
  std::vector<T> bias(static_cast<std::size_t>(width), T{0});
  if (s.in.b_ih) {
    const T* const b = s.in.b_ih.template data<T>();
    for_input_blocks<C>(
        hidden, [&](Index count, Index first, Index column) { std::copy_n(b + first, count, bias.data() + column); });
  }
  if (s.in.b_hh) {
    const T* const b = s.in.b_hh.template data<T>();
    for (Index i = 0; i < C::gates * hidden; ++i) bias[static_cast<std::size_t>(C::recurrent * hidden + i)] += b[i];
  }
  for_input_blocks<C>(hidden, [&](Index count, Index first, Index column) {
    gemm<T>(Transpose::no, Transpose::yes, rows, count, s.input, s.in.x.template data<T>(), s.input,
            s.in.w_ih.template data<T>() + first * s.input, s.input, Onto<T>::repeated(bias.data() + column),
            s.gates + column, width);
  });
  // What only the recurrent product is added to starts from its bias.
  const Index alone = C::gates * hidden, count = C::recurrent * hidden;
  for (Index row = 0; row < rows; ++row) std::copy_n(bias.data() + alone, count, s.gates + row * width + alone);
}

template <class C, class T>
void forward_step(const Sequence<C, T>& s, Index step, bool keep) {
  const Index hidden = s.hidden, t = s.time(step), column = C::recurrent * hidden;
  const Rows<T> previous = s.previous(step), cells = s.previous_cells(step), next = s.states_at(t);
  if (previous.data != nullptr) {
    gemm(Transpose::no, Transpose::yes, s.batch, C::gates * hidden, hidden, static_cast<const T*>(previous.data),
         previous.ld, s.in.w_hh.template data<T>(), hidden, T{1}, s.gates_at(0, t) + column, s.steps * s.width());
  }
  for (Index b = 0; b < s.batch; ++b) {
    const CellStep<T> now{hidden, s.gates_at(b, t), previous.row(b, s.zeros.data()), cells.row(b, s.zeros.data())};
    T* const to = next.data + b * next.ld;
    if (t < s.in.length(b)) {
      C::forward(now, to, keep);
    } else {
      std::copy_n(now.h, hidden, to);
      if constexpr (carries_cell<C>) std::copy_n(now.c, hidden, now.block(C::blocks - 1));
    }
  }
}

template <class T>
void clear_padding(const RecurrentInputs& in, T* y) {
  const Index steps = in.steps(), hidden = in.hidden();
  for (Index b = 0; b < in.batch(); ++b)
    std::fill(y + (b * steps + in.length(b)) * hidden, y + (b + 1) * steps * hidden, T{0});
}

// What is gathered on the way back: cotangents of the states [B,H], and sums for the biases.
template <class T>
struct Gathered {
  const T* dy;
  T *dh, *dc;
  std::vector<T> sums;
};

template <class C, class T>
void backward_step(const Sequence<C, T>& s, Index step, Gathered<T>& found, const RecurrentGradients& gradients) {
  const Index hidden = s.hidden, t = s.time(step), ld = s.steps * s.width();
  const Rows<T> previous = s.previous(step), cells = s.previous_cells(step);
  for (Index b = 0; b < s.batch; ++b) {
    T* const g = s.gates_at(b, t);
    if (t < s.in.length(b)) {
      const T* const dy = found.dy != nullptr ? found.dy + (b * s.steps + t) * hidden : s.zeros.data();
      const CellStep<T> now{hidden, g, previous.row(b, s.zeros.data()), cells.row(b, s.zeros.data())};
      C::backward(now, CellCotangents<T>{dy, found.dh + b * hidden, found.dc + b * hidden, found.sums.data()});
    } else {
      std::fill_n(g, s.width(), T{0});  // the state only passed through
    }
  }
  const T* const d = s.gates_at(0, t) + C::recurrent * hidden;
  if (gradients.w_hh && previous.data != nullptr) {
    gemm(Transpose::yes, Transpose::no, C::gates * hidden, hidden, s.batch, d, ld, static_cast<const T*>(previous.data),
         previous.ld, T{1}, gradients.w_hh.data<T>(), hidden);
  }
  if (step > 0 || gradients.h0) {
    gemm(Transpose::no, Transpose::no, s.batch, hidden, C::gates * hidden, d, ld, s.in.w_hh.template data<T>(), hidden,
         T{1}, found.dh, hidden);
  }
}

// What the products with x and the biases get, all steps at once.
template <class C, class T>
void input_backward(const Sequence<C, T>& s, const T* sums, const RecurrentGradients& gradients) {
  const Index hidden = s.hidden, rows = s.batch * s.steps, width = s.width();
  for_input_blocks<C>(hidden, [&](Index count, Index first, Index column) {
    const T* const d = s.gates + column;
    if (gradients.x) {
      gemm(Transpose::no, Transpose::no, rows, s.input, count, d, width, s.in.w_ih.template data<T>() + first * s.input,
           s.input, T{1}, gradients.x.data<T>(), s.input);
    }
    if (gradients.w_ih) {
      gemm(Transpose::yes, Transpose::no, count, s.input, rows, d, width, s.in.x.template data<T>(), s.input, T{1},
           gradients.w_ih.data<T>() + first * s.input, s.input);
    }
    if (gradients.b_ih) {
      T* const db = gradients.b_ih.data<T>() + first;
      for (Index i = 0; i < count; ++i) db[i] += sums[column + i];
    }
  });
  if (gradients.b_hh) {
    T* const db = gradients.b_hh.data<T>();
    for (Index i = 0; i < C::gates * hidden; ++i) db[i] += sums[C::recurrent * hidden + i];
  }
}

template <class T>
void add_to(const Tensor& gradient, const Tensor& found) {
  if (!gradient) return;
  T* const to = gradient.data<T>();
  for (Index i = 0; i < found.numel(); ++i) to[i] += found.data<T>()[i];
}

// Of a buffer with so many columns a step, H of them from `column` on as they stand after each sentence's last step.
Tensor last_of(const RecurrentInputs& in, const Tensor& buffer, Index column, const Tensor& first) {
  const Tensor last = Tensor::empty({in.batch(), in.hidden()}, in.x.dtype());
  dispatch(in.x.dtype(), [&]<class T> {
    const Index steps = in.steps(), hidden = in.hidden(), width = buffer.size(2);
    for (Index b = 0; b < in.batch(); ++b) {
      T* const to = last.data<T>() + b * hidden;
      if (in.length(b) > 0) {
        const Index t = in.reverse ? 0 : in.length(b) - 1;
        std::copy_n(buffer.data<T>() + (b * steps + t) * width + column, hidden, to);
      } else if (first) {
        std::copy_n(first.data<T>() + b * hidden, hidden, to);
      } else {
        std::fill_n(to, hidden, T{0});
      }
    }
  });
  return last;
}

}  // namespace

Index gate_count(Cell cell) {
  return with_cell(cell, []<class C> { return C::gates; });
}

void RecurrentInputs::check(const char* op) const {
  const Index gates = gate_count(cell);
  require(w_hh && w_hh.rank() == 2 && w_hh.size(0) == gates * w_hh.size(1), "{}: w_hh must be [{}H,H]; given {}", op,
          gates > 1 ? std::to_string(gates) : "", w_hh);
  require_shape(op, "w_ih", w_ih, {gates * hidden(), x.size(-1)});
  if (h0) require_shape(op, "the first state", h0, {batch(), hidden()});
  if (c0) require_shape(op, "the first cell state", c0, {batch(), hidden()});
  if (b_ih) require_shape(op, "b_ih", b_ih, {gates * hidden()});
  if (b_hh) require_shape(op, "b_hh", b_hh, {gates * hidden()});
  require_same_dtype(op, {x, h0, c0, w_ih, w_hh, b_ih, b_hh});
  if (!lengths) return;
  require(lengths.shape() == Shape{batch()}, "{}: lengths must be [{}]; given {}", op, batch(), lengths.shape());
  for (auto length : lengths.values())
    require(length >= 0 && length <= steps(), "{}: lengths must lie in [0, {}]; given {}", op, steps(), length);
}

RecurrentResult recurrent(const RecurrentInputs& in, bool keep) {
  const Shape shape{in.batch(), in.steps(), in.hidden()};
  RecurrentResult result;
  result.states = Tensor::empty(shape, in.x.dtype());
  with_cell(in.cell, [&]<class C> {
    result.gates = Tensor::empty(shape.with(2, C::blocks * in.hidden()), in.x.dtype());
    dispatch(in.x.dtype(), [&]<class T> {
      const Sequence<C, T> s(in, result);
      input_product(s);
      for (Index step = 0; step < s.steps; ++step) forward_step(s, step, keep);
      // Padding passed a state on, which y must not show. Only what starts behind the padding with a first state reads
      // it again in backward; else the zeros of y do as well.
      result.y = in.lengths && in.reverse && in.h0 && keep ? result.states.clone() : result.states;
      if (in.lengths) clear_padding(in, result.y.data<T>());
    });
  });
  return result;
}

Tensor last_state(const RecurrentInputs& in, const RecurrentResult& result) {
  return last_of(in, result.y, 0, in.h0);
}

Tensor last_cell_state(const RecurrentInputs& in, const RecurrentResult& result) {
  return last_of(in, result.gates, LstmCell::cell * in.hidden(), in.c0);
}

void recurrent_backward(const RecurrentInputs& in, const RecurrentResult& result, const Tensor& dy, const Tensor& dh_n,
                        const Tensor& dc_n, const RecurrentGradients& gradients) {
  const auto start = [&](const Tensor& cotangent) {
    return cotangent ? cotangent.clone() : Tensor::zeros({in.batch(), in.hidden()}, in.x.dtype());
  };
  const Tensor dh = start(dh_n), dc = in.cell == Cell::lstm ? start(dc_n) : dh;
  with_cell(in.cell, [&]<class C> {
    dispatch(in.x.dtype(), [&]<class T> {
      const Sequence<C, T> s(in, result);
      Gathered<T> found{dy ? dy.data<T>() : nullptr, dh.data<T>(), dc.data<T>(),
                        std::vector<T>(static_cast<std::size_t>(s.width()), T{0})};
      for (Index step = s.steps - 1; step >= 0; --step) backward_step(s, step, found, gradients);
      input_backward(s, found.sums.data(), gradients);
      add_to<T>(gradients.h0, dh);
      add_to<T>(gradients.c0, dc);
    });
  });
}

}  // namespace tapestry::core
