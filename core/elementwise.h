#pragma once
// Elementwise functions of whole tensors, with broadcasting. The function is a lambda on vector registers, written
// where the op is:
//
//   Tensor y = core::map([](auto x) { return exp(x); }, x);
//   Tensor z = core::map("add", [](auto a, auto b) { return a + b; }, a, b);

#include "core/tensor.h"
#include "core/vector.h"
#include "core/walk.h"

namespace tapestry::core {

/// f(x) element by element.
template <class F>
Tensor map(F f, const Tensor& x) {
  const Tensor y = Tensor::empty(x.shape(), x.dtype());
  dispatch(x.dtype(), [&]<class T> { map(x.numel(), y.data<T>(), f, x.data<T>()); });
  return y;
}

/// f(a, b) element by element of the shape that both have together. Errors: shapes do not broadcast, dtypes differ.
template <class F>
Tensor map(const char* op, F f, const Tensor& a, const Tensor& b) {
  require_same_dtype(op, {a, b});
  const Tensor y = Tensor::empty(broadcast(op, a.shape(), b.shape()), a.dtype());
  dispatch(y.dtype(), [&]<class T> {
    T* to = y.data<T>();
    const auto strides = [&](const Tensor& x) { return broadcast_strides(x.shape(), y.shape()); };
    for (StridedWalk walk(y.shape(), {strides(a), strides(b)}); walk.more(); walk.next(), to += walk.run())
      map_steps(walk.run(), to, f, Operand(a.data<T>() + walk.offset(0), walk.step(0)),
                Operand(b.data<T>() + walk.offset(1), walk.step(1)));
  });
  return y;
}

/// f(a, b, c) likewise.
template <class F>
Tensor map(const char* op, F f, const Tensor& a, const Tensor& b, const Tensor& c) {
  require_same_dtype(op, {a, b, c});
  const Tensor y = Tensor::empty(broadcast(op, broadcast(op, a.shape(), b.shape()), c.shape()), a.dtype());
  dispatch(y.dtype(), [&]<class T> {
    T* to = y.data<T>();
    const auto strides = [&](const Tensor& x) { return broadcast_strides(x.shape(), y.shape()); };
    for (StridedWalk walk(y.shape(), {strides(a), strides(b), strides(c)}); walk.more(); walk.next(), to += walk.run())
      map_steps(walk.run(), to, f, Operand(a.data<T>() + walk.offset(0), walk.step(0)),
                Operand(b.data<T>() + walk.offset(1), walk.step(1)),
                Operand(c.data<T>() + walk.offset(2), walk.step(2)));
  });
  return y;
}

}  // namespace tapestry::core
