#include "core/softmax.h"

#include "core/vector.h"

namespace tapestry::core {
namespace {

// The maximum, or 0 where it is -infinity: the difference of two infinities would be NaN.
template <class T>
T finite_max(Index n, const T* x) {
  const T m = fold(
      n, [](auto a, auto b) { return larger(a, b); }, x);
  return m == -std::numeric_limits<T>::infinity() ? 0 : m;
}

// Calls each(n, place of the row) for the rows of the last axis.
template <class F>
void each_row(const char* op, const Tensor& x, F each) {
  require(x.rank() > 0, "{}: at least one axis is needed; given a scalar", op);
  const Index n = x.size(-1);
  if (n == 0) return;
  for (Index place = 0; place < x.numel(); place += n) each(n, place);
}

// Calls each(number of keys seen, place of the first, place of the row, keys) for each query.
template <class F>
void each_query(const Tensor& scores, const Mask& mask, F each) {
  const int rank = scores.rank();
  require(2 <= rank && rank <= 4, "masked_softmax: scores must be [B,K], [B,Q,K] or [B,H,Q,K]; given {}",
          scores.shape());
  const Index batch = scores.size(0), heads = rank == 4 ? scores.size(1) : 1;
  const Index queries = rank == 2 ? 1 : scores.size(-2), keys = scores.size(-1);
  mask.require_fits("masked_softmax", batch, queries);
  Index row = 0;
  for (Index b = 0; b < batch; ++b)
    for (Index h = 0; h < heads; ++h)
      for (Index q = 0; q < queries; ++q, row += keys) {
        const auto seen = mask.keys(b, q, keys);
        each(seen.end - seen.begin, row + seen.begin);
      }
}

}  // namespace

template <class T>
void softmax_row(Index n, const T* x, T* y) {
  if (n == 0) return;
  const T m = finite_max(n, x);
  const double total = map_sum(
      n, y, [m](auto v) { return exp(v - m); }, x);
  if (total == 0) return;
  const auto scale = static_cast<T>(1 / total);
  map(
      n, y, [scale](auto v) { return v * scale; }, y);
}

template <class T>
void softmax_backward_row(Index n, const T* dy, const T* y, T* dx) {
  const auto mean = static_cast<T>(sum_of<T>(
      n, [](auto g, auto v) { return g * v; }, dy, y));
  map(
      n, dx, [mean](auto g, auto v) { return v * (g - mean); }, dy, y);
}

template void softmax_row(Index, const float*, float*);
template void softmax_row(Index, const double*, double*);
template void softmax_backward_row(Index, const float*, const float*, float*);
template void softmax_backward_row(Index, const double*, const double*, double*);

Tensor softmax(const Tensor& x) {
  const Tensor y = Tensor::empty(x.shape(), x.dtype());
  dispatch(x.dtype(), [&]<class T> {
    each_row("softmax", x,
             [from = x.data<T>(), to = y.data<T>()](Index n, Index row) { softmax_row(n, from + row, to + row); });
  });
  return y;
}

Tensor softmax_backward(const Tensor& dy, const Tensor& y) {
  const Tensor dx = Tensor::empty(y.shape(), y.dtype());
  dispatch(y.dtype(), [&]<class T> {
    each_row("softmax", y, [g = dy.data<T>(), v = y.data<T>(), to = dx.data<T>()](Index n, Index row) {
      softmax_backward_row(n, g + row, v + row, to + row);
    });
  });
  return dx;
}

Tensor log_softmax(const Tensor& x) {
  const Tensor y = Tensor::empty(x.shape(), x.dtype());
  dispatch(x.dtype(), [&]<class T> {
    each_row("log_softmax", x, [from = x.data<T>(), to = y.data<T>()](Index n, Index row) {
      const T m = finite_max(n, from + row);
      const double total = sum_of<T>(
          n, [m](auto v) { return exp(v - m); }, from + row);
      const auto log_total = static_cast<T>(std::log(total));
      map(
          n, to + row, [=](auto v) { return (v - m) - log_total; }, from + row);
    });
  });
  return y;
}

Tensor log_softmax_backward(const Tensor& dy, const Tensor& y) {
  const Tensor dx = Tensor::empty(y.shape(), y.dtype());
  dispatch(y.dtype(), [&]<class T> {
    each_row("log_softmax", y, [g = dy.data<T>(), v = y.data<T>(), to = dx.data<T>()](Index n, Index row) {
      const auto total = static_cast<T>(sum(n, g + row));
      map(
          n, to + row, [total](auto d, auto l) { return d - exp(l) * total; }, g + row, v + row);
    });
  });
  return dx;
}

Tensor masked_softmax(const Tensor& scores, const Mask& mask) {
  const Tensor y = Tensor::zeros(scores.shape(), scores.dtype());
  dispatch(scores.dtype(), [&]<class T> {
    each_query(scores, mask, [from = scores.data<T>(), to = y.data<T>()](Index n, Index place) {
      softmax_row(n, from + place, to + place);
    });
  });
  return y;
}

Tensor masked_softmax_backward(const Tensor& dy, const Tensor& y, const Mask& mask) {
  const Tensor dx = Tensor::zeros(y.shape(), y.dtype());
  dispatch(y.dtype(), [&]<class T> {
    each_query(y, mask, [g = dy.data<T>(), v = y.data<T>(), to = dx.data<T>()](Index n, Index place) {
      softmax_backward_row(n, g + place, v + place, to + place);
    });
  });
  return dx;
}

}  // namespace tapestry::core
