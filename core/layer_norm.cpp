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

template <class T>
T sum_of_row(Index n, const T* x) {
  Batch<T> even(0), odd(0);
  for_vectors<T>(n, [&](Index i, auto v) { (i / lanes<T> % 2 == 0 ? even : odd) += v.load(x + i); });
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

// s [width] becomes n = (s - mean) / sqrt(variance + epsilon), y = n weight + bias; returns 1 / sqrt(variance +
// epsilon). n and y may be one array.
template <class T>
T normalise_row(Index width, double epsilon, T* n, const T* weight, const T* bias, T* y) {
  const T count = static_cast<T>(width);
  // The mean, rounded to T, is off by up to half a unit of its last place, which for a row around 1000 is more than its
  // small differences can bear. What is left after subtracting it is small, and its own mean is taken off as well, from
  // the variance too: E (d - E d)^2 = E d^2 - (E d)^2, where the second is nearly nothing.
  const Batch<T> near(sum_of_row(width, n) / count);
  Batch<T> sums(0), squares(0);
  for_vectors<T>(width, [&](Index i, auto v) {
    const Batch<T> d = v.load(n + i) - near, counted = v.only(d);
    v.store(d, n + i);
    sums += counted;
    squares = fma(counted, counted, squares);
  });
  const T rest = hadd(sums) / count;
  const T variance = std::max(hadd(squares) / count - rest * rest, T{0});
  const T scale = static_cast<T>(1 / std::sqrt(static_cast<double>(variance) + epsilon));
  const Batch<T> mean(rest), factor(scale);
  for_vectors<T>(width, [&](Index i, auto v) {
    Batch<T> value = (v.load(n + i) - mean) * factor;
    if (n != y) v.store(value, n + i);
    if (weight != nullptr) value *= v.load(weight + i);
    if (bias != nullptr) value += v.load(bias + i);
    v.store(value, y + i);
  });
  return scale;
}

// What weight and bias get, gathered over some rows before it is added: thousands of rows into one f32 sum would lose
// digits.
template <class T>
class AffineGradients {
 public:
  AffineGradients(const Tensor& weight, const Tensor& bias)
      : targets_{weight, bias},
        sums_{weight ? Tensor::zeros(weight.shape(), weight.dtype()) : Tensor(),
              bias ? Tensor::zeros(bias.shape(), bias.dtype()) : Tensor()} {}
  ~AffineGradients() { flush(); }

  T* weight() const { return row_or_null<T>(sums_[0], 0); }
  T* bias() const { return row_or_null<T>(sums_[1], 0); }
  void row_done() {
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

// ds of one row, unless that is null, and what the row gives to weight and bias.
template <class T>
void backward_row(Index width, const T* dy, const T* weight, const T* n, T scale, T* ds, T* dweight, T* dbias) {
  Batch<T> sums(0), products(0);
  const auto scaled = [&](Index i, auto v) {
    const Batch<T> g = v.load(dy + i);
    return weight != nullptr ? g * v.load(weight + i) : g;
  };
  for_vectors<T>(width, [&](Index i, auto v) {
    const Batch<T> d = v.load(dy + i), x = v.load(n + i), g = scaled(i, v);
    sums += g;
    products = fma(g, x, products);
    if (dweight != nullptr) v.store(fma(d, x, v.load(dweight + i)), dweight + i);
    if (dbias != nullptr) v.store(d + v.load(dbias + i), dbias + i);
  });
  if (ds == nullptr) return;
  const T count = static_cast<T>(width);
  const Batch<T> mean(hadd(sums) / count), slope(hadd(products) / count), factor(scale);
  for_vectors<T>(width,
                 [&](Index i, auto v) { v.store((scaled(i, v) - mean - v.load(n + i) * slope) * factor, ds + i); });
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
      const T scale =
          normalise_row<T>(in.width, in.epsilon, n, row_or_null<T>(in.weight, 0), row_or_null<T>(in.bias, 0), y);
      if (save) result.saved.scale.data<T>()[row] = scale;
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
      T* const ds = row_or_null<T>(wants_residual ? gradients.residual : gradients.x, place);
      backward_row<T>(width, g, row_or_null<T>(saved.weight, 0), n, saved.scale.data<T>()[row], ds, affine.weight(),
                      affine.bias());
      affine.row_done();
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
