#include "core/layer_norm.h"

#include <cmath>

#include "core/accumulate.h"
#include "core/for_vectors.h"

namespace tapestry::core {
namespace {

template <class T>
T* row_or_null(const Tensor& t, Index place) {
  return t ? t.data<T>() + place : nullptr;
}

// Sum of f(i, vector), a register of terms for each place, over i < n. `vector.load` pads with zeros.
template <class T, class F>
T sum_of_lanes(Index n, F f) {
  Batch<T> even(0), odd(0);
  for_vectors<T>(n, [&](Index i, auto v) { (i / lanes<T> % 2 == 0 ? even : odd) += f(i, v); });
  return hadd(even + odd);
}

// s = residual + dropout(x) of one row.
template <class T>
void add_row(const LayerNormInputs& in, Index row, T* s) {
  const Index place = row * in.width;
  const T* const x = in.x.data<T>() + place;
  const T* const residual = row_or_null<T>(in.residual, place);
  if (in.kept.buffer) {
    drop_row(in.width, in.kept.row(row), static_cast<T>(in.kept_scale), x, s);
    if (residual == nullptr) return;
    map(
        in.width, s, [](auto a, auto b) { return a + b; }, s, residual);
  } else if (residual != nullptr) {
    map(
        in.width, s, [](auto a, auto b) { return a + b; }, x, residual);
  } else {
    std::copy_n(x, in.width, s);
  }
}

// n of one row in place of s; returns 1 / sqrt(variance + epsilon).
template <class T>
T normalise_row(Index width, double epsilon, T* s) {
  const T count = static_cast<T>(width);
  // The mean, rounded to T, is off by up to half a unit of its last place, which for a row around 1000 is more than its
  // small differences can bear. What is left after subtracting it is small, and its own mean is taken off as well.
  const Batch<T> near(sum_of_lanes<T>(width, [&](Index i, auto v) { return v.load(s + i); }) / count);
  const T rest = sum_of_lanes<T>(width,
                                 [&](Index i, auto v) {
                                   const Batch<T> d = v.load(s + i) - near;
                                   v.store(d, s + i);
                                   return v.only(d);
                                 }) /
                 count;
  const Batch<T> mean(rest);
  const T variance = sum_of_lanes<T>(width,
                                     [&](Index i, auto v) {
                                       const Batch<T> d = v.load(s + i) - mean;
                                       return v.only(d * d);
                                     }) /
                     count;
  const T scale = static_cast<T>(1 / std::sqrt(static_cast<double>(variance) + epsilon));
  map(
      width, s, [rest, scale](auto v) { return (v - rest) * scale; }, s);
  return scale;
}

template <class T>
void affine_row(Index width, const T* n, const T* weight, const T* bias, T* y) {
  for_vectors<T>(width, [&](Index i, auto v) {
    Batch<T> value = v.load(n + i);
    if (weight != nullptr) value *= v.load(weight + i);
    if (bias != nullptr) value += v.load(bias + i);
    v.store(value, y + i);
  });
}

// Gradients of weight and bias, gathered over some rows before they are added: thousands of rows into one f32 sum would
// lose digits.
template <class T>
class AffineGradients {
 public:
  AffineGradients(const Tensor& weight, const Tensor& bias)
      : targets_{weight, bias},
        sums_{weight ? Tensor::zeros(weight.shape(), weight.dtype()) : Tensor(),
              bias ? Tensor::zeros(bias.shape(), bias.dtype()) : Tensor()} {}
  ~AffineGradients() { flush(); }

  void add(Index width, const T* dy, const T* n) {
    T* const weight = row_or_null<T>(sums_[0], 0);
    T* const bias = row_or_null<T>(sums_[1], 0);
    for_vectors<T>(width, [&](Index i, auto v) {
      const Batch<T> d = v.load(dy + i);
      if (weight != nullptr) v.store(fma(d, v.load(n + i), v.load(weight + i)), weight + i);
      if (bias != nullptr) v.store(d + v.load(bias + i), bias + i);
    });
    if (++rows_ % 32 == 0) flush();
  }

 private:
  void flush() {
    for (int i = 0; i < 2; ++i) {
      if (!targets_[i]) continue;
      accumulate(targets_[i], sums_[i]);
      sums_[i].fill(0);
    }
  }
  Tensor targets_[2], sums_[2];
  Index rows_ = 0;
};

// ds of one row.
template <class T>
void backward_row(Index width, const T* dy, const T* weight, const T* n, T scale, T* ds) {
  affine_row<T>(width, dy, weight, nullptr, ds);
  const T count = static_cast<T>(width);
  const Batch<T> mean(sum_of_lanes<T>(width, [&](Index i, auto v) { return v.load(ds + i); }) / count);
  const Batch<T> slope(sum_of_lanes<T>(width, [&](Index i, auto v) { return v.load(ds + i) * v.load(n + i); }) / count);
  const Batch<T> factor(scale);
  for_vectors<T>(width,
                 [&](Index i, auto v) { v.store((v.load(ds + i) - mean - v.load(n + i) * slope) * factor, ds + i); });
}

}  // namespace

LayerNormResult layer_norm(const LayerNormInputs& in, bool save) {
  const Index rows = in.width == 0 ? 0 : in.x.numel() / in.width;
  const DType dtype = in.x.dtype();
  LayerNormResult result;
  result.y = Tensor::empty(in.x.shape(), dtype);
  if (save)
    result.saved = {Tensor::empty(in.x.shape(), dtype), Tensor::empty({rows}, dtype), in.weight, in.kept,
                    in.kept_scale};
  dispatch(dtype, [&]<class T> {
    for (Index row = 0; row < rows; ++row) {
      const Index place = row * in.width;
      T* const y = result.y.data<T>() + place;
      // Where nothing is saved, n is made in place of y.
      T* const n = save ? result.saved.normalised.data<T>() + place : y;
      add_row(in, row, n);
      const T scale = normalise_row(in.width, in.epsilon, n);
      if (save) result.saved.scale.data<T>()[row] = scale;
      affine_row<T>(in.width, n, row_or_null<T>(in.weight, 0), row_or_null<T>(in.bias, 0), y);
    }
  });
  return result;
}

LayerNormGradients layer_norm_backward(const LayerNormSaved& saved, const Tensor& dy, bool wants_x, bool wants_residual,
                                       const Tensor& dweight, const Tensor& dbias) {
  const Shape& shape = saved.normalised.shape();
  const DType dtype = saved.normalised.dtype();
  const Index rows = saved.scale.numel(), width = rows == 0 ? 0 : shape.numel() / rows;
  LayerNormGradients gradients;
  if (wants_x) gradients.x = Tensor::empty(shape, dtype);
  if (wants_residual) gradients.residual = Tensor::empty(shape, dtype);
  dispatch(dtype, [&]<class T> {
    AffineGradients<T> affine(dweight, dbias);
    for (Index row = 0; row < rows; ++row) {
      const Index place = row * width;
      const T* const n = saved.normalised.data<T>() + place;
      const T* const g = dy.data<T>() + place;
      affine.add(width, g, n);
      if (!wants_x && !wants_residual) continue;
      T* const ds = (wants_residual ? gradients.residual : gradients.x).template data<T>() + place;
      backward_row<T>(width, g, row_or_null<T>(saved.weight, 0), n, saved.scale.data<T>()[row], ds);
      T* const dx = row_or_null<T>(gradients.x, place);
      if (dx == nullptr) continue;
      if (saved.kept.buffer) {
        drop_row(width, saved.kept.row(row), static_cast<T>(saved.kept_scale), ds, dx);
      } else if (dx != ds) {
        std::copy_n(ds, width, dx);
      }
    }
  });
  return gradients;
}

}  // namespace tapestry::core
