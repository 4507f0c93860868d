#include "core/layer_norm.h"

#include "core/reduce.h"
#include "core/vector.h"

namespace tapestry::core {
namespace {

// n of one row; returns 1 / sqrt(variance + epsilon). y must not be x.
template <class T>
T normalise_row(Index width, const T* x, double epsilon, T* y) {
  const double count = static_cast<double>(width);
  // The mean, rounded to T, is off by up to half a unit of its last place, which for a row around 1000 is more than
  // its small differences can bear. What is left after subtracting it is small, and its own mean is taken off as well.
  const T near = static_cast<T>(sum(width, x) / count);
  map(
      width, y, [near](auto v) { return v - near; }, x);
  const T rest = static_cast<T>(sum(width, y) / count);
  const double variance = sum_of<T>(
                              width,
                              [rest](auto v) {
                                const auto d = v - rest;
                                return d * d;
                              },
                              y) /
                          count;
  const T scale = static_cast<T>(1 / std::sqrt(variance + epsilon));
  map(
      width, y, [rest, scale](auto v) { return (v - rest) * scale; }, y);
  return scale;
}

template <class T>
void affine_row(Index width, const T* n, const T* weight, const T* bias, T* y) {
  if (weight != nullptr && bias != nullptr) {
    map(
        width, y, [](auto v, auto w, auto b) { return v * w + b; }, n, weight, bias);
  } else if (weight != nullptr) {
    map(
        width, y, [](auto v, auto w) { return v * w; }, n, weight);
  } else if (bias != nullptr) {
    map(
        width, y, [](auto v, auto b) { return v + b; }, n, bias);
  } else if (y != n) {
    std::copy_n(n, width, y);
  }
}

template <class T>
T* data_or_null(const Tensor& t) {
  return t ? t.data<T>() : nullptr;
}

}  // namespace

Tensor layer_norm(const Tensor& x, Index width, const Tensor& weight, const Tensor& bias, double epsilon,
                  Normalised* saved) {
  const Index rows = width == 0 ? 0 : x.numel() / width;
  const Tensor y = Tensor::empty(x.shape(), x.dtype());
  // Where nothing is saved, n is made in place of y.
  const Tensor normalised = saved != nullptr ? Tensor::empty({rows, width}, x.dtype()) : y;
  const Tensor scale = saved != nullptr ? Tensor::empty({rows}, x.dtype()) : Tensor();
  dispatch(x.dtype(), [&]<class T> {
    const T* const from = x.data<T>();
    const T* const w = data_or_null<T>(weight);
    const T* const b = data_or_null<T>(bias);
    T* const n = normalised.data<T>();
    T* const to = y.data<T>();
    T* const s = data_or_null<T>(scale);
    for (Index row = 0; row < rows; ++row) {
      const Index place = row * width;
      const T scale_of_row = normalise_row(width, from + place, epsilon, n + place);
      if (s != nullptr) s[row] = scale_of_row;
      affine_row(width, n + place, w, b, to + place);
    }
  });
  if (saved != nullptr) *saved = {normalised, scale};
  return y;
}

Tensor layer_norm_backward(const Tensor& dy, const Tensor& weight, const Normalised& saved) {
  const Index rows = saved.rows.size(0), width = saved.rows.size(1);
  const double count = static_cast<double>(width);
  const Tensor dx = Tensor::empty(dy.shape(), dy.dtype());
  dispatch(dy.dtype(), [&]<class T> {
    const T* const w = data_or_null<T>(weight);
    for (Index row = 0; row < rows; ++row) {
      const Index place = row * width;
      const T* const n = saved.rows.data<T>() + place;
      T* const g = dx.data<T>() + place;
      affine_row<T>(width, dy.data<T>() + place, w, nullptr, g);
      const T mean = static_cast<T>(sum(width, g) / count);
      const T slope = static_cast<T>(sum_of<T>(
                                         width, [](auto a, auto b) { return a * b; }, g, n) /
                                     count);
      const T scale = saved.scale.data<T>()[row];
      map(
          width, g, [=](auto a, auto b) { return (a - mean - b * slope) * scale; }, g, n);
    }
  });
  return dx;
}

void layer_norm_backward_weight(const Tensor& target, const Tensor& dy, const Normalised& saved) {
  const Tensor products = Tensor::empty(saved.rows.shape(), dy.dtype());
  dispatch(dy.dtype(), [&]<class T> {
    map(
        products.numel(), products.data<T>(), [](auto a, auto b) { return a * b; }, dy.data<T>(), saved.rows.data<T>());
  });
  add_column_sums(target.reshape({target.numel()}), products);
}

}  // namespace tapestry::core
