#include "core/recurrent.h"

#include <algorithm>
#include <vector>

#include "core/for_vectors.h"
#include "core/functions.h"
#include "core/gemm.h"
#include "core/tanh.h"

// One buffer `gates` [B,T,4H] goes through the whole computation, so that a training step stays in the cache. Each row
// has four blocks of H columns:
//
//             n          r          z          m
//   before    W_in x     ......W_ir x, W_iz x + biases......  b_hn      all steps in two products
//   per step             += W_hr h   += W_hz h  += W_hn h               one product, columns H..4H
//   then      n          r          z          m                        what backward needs
//   backward  dn         dr         dz         dm                       derivatives by the sums above
//
// So the gradient by the input's product is columns 0..3H and that by the recurrent one columns H..4H, in place.

namespace tapestry::core {
namespace {

// Addresses of one time step in batch-major buffers: row b is at data + b * ld.
template <class T>
struct Rows {
  T* data = nullptr;  // none: zeros
  Index ld = 0;
};

// The arrays of a GRU, as its kernels see them.
template <class T>
struct Sequence {
  const GruInputs& in;
  Index batch, steps, input, hidden;
  T *gates, *states;

  Sequence(const GruInputs& inputs, const GruResult& result)
      : in(inputs),
        batch(inputs.batch()),
        steps(inputs.steps()),
        input(inputs.x.size(2)),
        hidden(inputs.hidden()),
        gates(result.gates.data<T>()),
        states(result.states.data<T>()) {}

  Index time(Index step) const { return in.reverse ? steps - 1 - step : step; }
  T* gates_at(Index b, Index t) const { return gates + (b * steps + t) * 4 * hidden; }
  Rows<T> states_at(Index t) const { return {states + t * hidden, steps * hidden}; }
  // The states that step number `step` starts from.
  Rows<T> previous(Index step) const {
    if (step > 0) return states_at(time(step - 1));
    return in.h0 ? Rows<T>{in.h0.data<T>(), hidden} : Rows<T>{};
  }
};

// Rows r, z, n of PyTorch's weights are columns r, z | n of the gates: two blocks of the product with x.
// f(rows of the weight, first of them, column of the gates).
template <class F>
void for_input_blocks(Index hidden, F f) {
  f(2 * hidden, Index{0}, hidden);  // r, z
  f(hidden, 2 * hidden, Index{0});  // n
}

template <class T>
void input_product(const Sequence<T>& s) {
  const Index hidden = s.hidden, rows = s.batch * s.steps;
  std::vector<T> bias(static_cast<std::size_t>(4 * hidden), T{0});
  if (s.in.b_ih) {
    const T* const b = s.in.b_ih.template data<T>();
    std::copy_n(b, 2 * hidden, bias.data() + hidden);
    std::copy_n(b + 2 * hidden, hidden, bias.data());
  }
  if (s.in.b_hh) {
    const T* const b = s.in.b_hh.template data<T>();
    for (Index i = 0; i < 3 * hidden; ++i) bias[static_cast<std::size_t>(hidden + i)] += b[i];
  }
  for_input_blocks(hidden, [&](Index count, Index first, Index column) {
    gemm<T>(Transpose::no, Transpose::yes, rows, count, s.input, s.in.x.template data<T>(), s.input,
            s.in.w_ih.template data<T>() + first * s.input, s.input, Onto<T>::repeated(bias.data() + column),
            s.gates + column, 4 * hidden);
  });
  for (Index row = 0; row < rows; ++row)
    std::copy_n(bias.data() + 3 * hidden, hidden, s.gates + row * 4 * hidden + 3 * hidden);
}

// The gates and the new state of one row from its finished sums.
template <class T>
void gates_forward(Index hidden, T* g, const T* previous, T* state, bool keep) {
  for_vectors<T>(hidden, [&](Index i, auto v) {
    const auto r = core::sigmoid(v.load(g + hidden + i)), z = core::sigmoid(v.load(g + 2 * hidden + i));
    const auto n = smooth_tanh<T>(fma(r, v.load(g + 3 * hidden + i), v.load(g + i)));
    v.store(fma(z, v.load(previous + i) - n, n), state + i);
    if (keep) {
      v.store(n, g + i);
      v.store(r, g + hidden + i);
      v.store(z, g + 2 * hidden + i);
    }
  });
}

//   h' = (1 - z) n + z h        dn = dh' (1 - z)    dz = dh' (h - n)    dh = dh' z
//   n = tanh(a + r m)           da = dn (1 - n^2)   dr = da m           dm = da r
//   r, z = sigma(a)             da = dr r (1 - r)
// `dh` holds dh' and receives dh; `sums` [4H] gathers what the biases get.
template <class T>
void gates_backward(Index hidden, T* g, const T* previous, const T* dy, T* dh, T* sums) {
  for_vectors<T>(hidden, [&](Index i, auto v) {
    const Batch<T> one(1);
    const auto n = v.load(g + i), r = v.load(g + hidden + i), z = v.load(g + 2 * hidden + i),
               m = v.load(g + 3 * hidden + i);
    const auto dh_next = v.load(dh + i) + v.load(dy + i);
    const auto dn = dh_next * (one - z) * (one - n * n);
    const auto dr = dn * m * r * (one - r);
    const auto dz = dh_next * (v.load(previous + i) - n) * z * (one - z);
    const auto put = [&](const Batch<T>& d, Index column) {
      v.store(d, g + column * hidden + i);
      v.store(v.load(sums + column * hidden + i) + d, sums + column * hidden + i);
    };
    put(dn, 0);
    put(dr, 1);
    put(dz, 2);
    put(dn * r, 3);
    v.store(dh_next * z, dh + i);
  });
}

template <class T>
void forward_step(const Sequence<T>& s, Index step, bool keep, const T* zeros) {
  const Index hidden = s.hidden, t = s.time(step);
  const Rows<T> previous = s.previous(step), next = s.states_at(t);
  if (previous.data != nullptr) {
    gemm(Transpose::no, Transpose::yes, s.batch, 3 * hidden, hidden, static_cast<const T*>(previous.data), previous.ld,
         s.in.w_hh.template data<T>(), hidden, T{1}, s.gates_at(0, t) + hidden, s.steps * 4 * hidden);
  }
  for (Index b = 0; b < s.batch; ++b) {
    const T* const from = previous.data != nullptr ? previous.data + b * previous.ld : zeros;
    T* const to = next.data + b * next.ld;
    if (t < s.in.length(b)) {
      gates_forward(hidden, s.gates_at(b, t), from, to, keep);
    } else {
      std::copy_n(from, hidden, to);
    }
  }
}

template <class T>
void clear_padding(const GruInputs& in, T* y) {
  const Index steps = in.steps(), hidden = in.hidden();
  for (Index b = 0; b < in.batch(); ++b)
    std::fill(y + (b * steps + in.length(b)) * hidden, y + (b + 1) * steps * hidden, T{0});
}

template <class T>
void backward_step(const Sequence<T>& s, Index step, const T* dy, T* dh, T* sums, const T* zeros,
                   const GruGradients& gradients) {
  const Index hidden = s.hidden, t = s.time(step), ld = s.steps * 4 * hidden;
  const Rows<T> previous = s.previous(step);
  for (Index b = 0; b < s.batch; ++b) {
    T* const g = s.gates_at(b, t);
    if (t < s.in.length(b)) {
      gates_backward(hidden, g, previous.data != nullptr ? previous.data + b * previous.ld : zeros,
                     dy != nullptr ? dy + (b * s.steps + t) * hidden : zeros, dh + b * hidden, sums);
    } else {
      std::fill_n(g, 4 * hidden, T{0});  // the state only passed through
    }
  }
  const T* const d = s.gates_at(0, t) + hidden;  // columns r, z, m
  if (gradients.w_hh && previous.data != nullptr) {
    gemm(Transpose::yes, Transpose::no, 3 * hidden, hidden, s.batch, d, ld, static_cast<const T*>(previous.data),
         previous.ld, T{1}, gradients.w_hh.data<T>(), hidden);
  }
  if (step > 0 || gradients.h0) {
    gemm(Transpose::no, Transpose::no, s.batch, hidden, 3 * hidden, d, ld, s.in.w_hh.template data<T>(), hidden, T{1},
         dh, hidden);
  }
}

// What the products with x and the biases get, all steps at once.
template <class T>
void input_backward(const Sequence<T>& s, const T* sums, const GruGradients& gradients) {
  const Index hidden = s.hidden, rows = s.batch * s.steps;
  for_input_blocks(hidden, [&](Index count, Index first, Index column) {
    const T* const d = s.gates + column;
    if (gradients.x) {
      gemm(Transpose::no, Transpose::no, rows, s.input, count, d, 4 * hidden,
           s.in.w_ih.template data<T>() + first * s.input, s.input, T{1}, gradients.x.data<T>(), s.input);
    }
    if (gradients.w_ih) {
      gemm(Transpose::yes, Transpose::no, count, s.input, rows, d, 4 * hidden, s.in.x.template data<T>(), s.input, T{1},
           gradients.w_ih.data<T>() + first * s.input, s.input);
    }
    if (gradients.b_ih) {
      T* const db = gradients.b_ih.data<T>() + first;
      for (Index i = 0; i < count; ++i) db[i] += sums[column + i];
    }
  });
  if (gradients.b_hh) {
    T* const db = gradients.b_hh.data<T>();
    for (Index i = 0; i < 3 * hidden; ++i) db[i] += sums[hidden + i];
  }
}

}  // namespace

void GruInputs::check(const char* op) const {
  require(w_hh && w_hh.rank() == 2 && w_hh.size(0) == 3 * w_hh.size(1), "{}: w_hh must be [3H,H]; given {}", op, w_hh);
  require_shape(op, "w_ih", w_ih, {3 * hidden(), x.size(-1)});
  if (h0) require_shape(op, "the first state", h0, {batch(), hidden()});
  if (b_ih) require_shape(op, "b_ih", b_ih, {3 * hidden()});
  if (b_hh) require_shape(op, "b_hh", b_hh, {3 * hidden()});
  require_same_dtype(op, {x, h0, w_ih, w_hh, b_ih, b_hh});
  if (!lengths) return;
  require(lengths.shape() == Shape{batch()}, "{}: lengths must be [{}]; given {}", op, batch(), lengths.shape());
  for (auto length : lengths.values())
    require(length >= 0 && length <= steps(), "{}: lengths must lie in [0, {}]; given {}", op, steps(), length);
}

GruResult gru(const GruInputs& in, bool keep) {
  const Shape shape{in.batch(), in.steps(), in.hidden()};
  GruResult result;
  result.states = Tensor::empty(shape, in.x.dtype());
  result.gates = Tensor::empty(shape.with(2, 4 * in.hidden()), in.x.dtype());
  dispatch(in.x.dtype(), [&]<class T> {
    const Sequence<T> s(in, result);
    const std::vector<T> zeros(static_cast<std::size_t>(s.hidden), T{0});
    input_product(s);
    for (Index step = 0; step < s.steps; ++step) forward_step(s, step, keep, zeros.data());
    // Padding passed a state on, which y must not show. Only what starts behind the padding with a first state reads
    // it again in backward; else the zeros of y do as well.
    result.y = in.lengths && in.reverse && in.h0 && keep ? result.states.clone() : result.states;
    if (in.lengths) clear_padding(in, result.y.data<T>());
  });
  return result;
}

Tensor gru_last_state(const GruInputs& in, const GruResult& result) {
  const Tensor last = Tensor::empty({in.batch(), in.hidden()}, in.x.dtype());
  dispatch(in.x.dtype(), [&]<class T> {
    const Index steps = in.steps(), hidden = in.hidden();
    for (Index b = 0; b < in.batch(); ++b) {
      T* const to = last.data<T>() + b * hidden;
      if (in.length(b) > 0) {
        const Index t = in.reverse ? 0 : in.length(b) - 1;
        std::copy_n(result.y.data<T>() + (b * steps + t) * hidden, hidden, to);
      } else if (in.h0) {
        std::copy_n(in.h0.data<T>() + b * hidden, hidden, to);
      } else {
        std::fill_n(to, hidden, T{0});
      }
    }
  });
  return last;
}

void gru_backward(const GruInputs& in, const GruResult& result, const Tensor& dy, const Tensor& dh_n,
                  const GruGradients& gradients) {
  dispatch(in.x.dtype(), [&]<class T> {
    const Sequence<T> s(in, result);
    const std::vector<T> zeros(static_cast<std::size_t>(s.hidden), T{0});
    std::vector<T> sums(static_cast<std::size_t>(4 * s.hidden), T{0});
    const Tensor dh = dh_n ? dh_n.clone() : Tensor::zeros({s.batch, s.hidden}, in.x.dtype());
    for (Index step = s.steps - 1; step >= 0; --step)
      backward_step(s, step, dy ? dy.data<T>() : nullptr, dh.data<T>(), sums.data(), zeros.data(), gradients);
    input_backward(s, sums.data(), gradients);
    if (gradients.h0) {
      T* const to = gradients.h0.data<T>();
      for (Index i = 0; i < dh.numel(); ++i) to[i] += dh.data<T>()[i];
    }
  });
}

}  // namespace tapestry::core
