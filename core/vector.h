#pragma once
// Loops over arrays on vector registers (xsimd). One generic lambda serves every element, in either dtype:
//
//   map(n, y, [](auto x) { return exp(x) * 2; }, x);
//
// The tail of an array runs through the same vector code on a padded register, so that a value never depends on its
// place in the array.

#include <algorithm>
#include <cmath>
#include <utility>
#include <xsimd/xsimd.hpp>

#include "core/dtype.h"

namespace tapestry::core {

template <class T>
using Batch = xsimd::batch<T>;

template <class T>
inline constexpr Index lanes = static_cast<Index>(Batch<T>::size);

// `count` < 2 * size elements, in halves of constant size: a copy of variable length would be a call.
template <Index size, class T>
void copy_few(Index count, const T* from, T* to) {
  if constexpr (size > 0) {
    if (count >= size) {
      std::copy_n(from, size, to);
      from += size;
      to += size;
      count -= size;
    }
    copy_few<size / 2>(count, from, to);
  }
}

/// The first `count` elements in a register; the lanes beyond hold `padding`.
template <class T>
Batch<T> load_part(const T* from, Index count, T padding = 0) {
  alignas(64) T padded[lanes<T>];
  Batch<T>(padding).store_aligned(padded);
  copy_few<lanes<T>>(count, from, padded);
  return Batch<T>::load_aligned(padded);
}

template <class T>
void store_part(const Batch<T>& from, Index count, T* to) {
  alignas(64) T all[lanes<T>];
  from.store_aligned(all);
  copy_few<lanes<T>>(count, all, to);
}

/// y[i] = f(x[i], ...) for i < n. y may be one of the inputs.
template <class T, class F, class... Inputs>
void map(Index n, T* y, F f, const Inputs*... x) {
  Index i = 0;
  for (; i + lanes<T> <= n; i += lanes<T>) f(Batch<T>::load_unaligned(x + i)...).store_unaligned(y + i);
  if (i < n) store_part<T>(f(load_part<T>(x + i, n - i)...), n - i, y + i);
}

/// An operand of `map_steps`: an array (step 1), or one number for the whole run (step 0).
template <class T>
struct Operand {
  Operand(const T* values, Index step_) : step(step_), array(values) {
    if (step == 0) std::fill_n(repeated, lanes<T>, *values);
  }
  // A register full of the repeated number is read like the array, only without moving on.
  const T* at(Index i) const { return step == 0 ? repeated : array + i; }
  Batch<T> part(Index i, Index count) const { return load_part<T>(at(i), count); }

  Index step;
  const T* array;
  alignas(64) T repeated[lanes<T>];
};

/// y[i] = f(x[i * step], ...) for i < n.
template <class T, class F, class... Operands>
void map_steps(Index n, T* y, F f, Operands... x) {
  Index i = 0;
  for (; i + lanes<T> <= n; i += lanes<T>) f(Batch<T>::load_unaligned(x.at(i))...).store_unaligned(y + i);
  if (i < n) store_part<T>(f(x.part(i, n - i)...), n - i, y + i);
}

/// Sum of f(x[i], ...) over i < n, gathered in f64 whatever T is: an f32 sum is then as good as its last rounding.
template <class T, class F, class... Inputs>
double sum_of(Index n, F f, const Inputs*... x) {
  // Several accumulators: additions wait for one another, and without fast-math the compiler may not reorder them.
  constexpr Index width = lanes<T>, parts = width / lanes<double>;
  Batch<double> sums[2 * parts];
  for (auto& sum : sums) sum = Batch<double>(0.0);
  const auto gather = [&](const Batch<T>& values, Index which) {
    if constexpr (parts == 1) {
      sums[which] += values;
    } else {
      alignas(64) T each[width];
      values.store_aligned(each);
      for (Index p = 0; p < parts; ++p)
        sums[which * parts + p] += Batch<double>::load_aligned(each + p * lanes<double>);
    }
  };
  Index i = 0;
  for (; i + 2 * width <= n; i += 2 * width) {
    gather(f(Batch<T>::load_unaligned(x + i)...), 0);
    gather(f(Batch<T>::load_unaligned(x + i + width)...), 1);
  }
  for (; i + width <= n; i += width) gather(f(Batch<T>::load_unaligned(x + i)...), 0);
  if (i < n) {
    // The padding's f need not be zero, so its lanes are left out rather than padded away.
    alignas(64) T each[width];
    f(load_part<T>(x + i, n - i)...).store_aligned(each);
    gather(load_part<T>(each, n - i), 1);
  }
  for (Index s = 1; s < 2 * parts; ++s) sums[0] += sums[s];
  return xsimd::hadd(sums[0]);
}

/// map(n, y, f, x...), and the sum of y: gathered in T over a few hundred elements at a time, in f64 beyond. Without a
/// y, the same sum alone.
template <class T, class F, class... Inputs>
double map_sum(Index n, T* y, F f, const Inputs*... x) {
  constexpr Index block = 32 * lanes<T>;
  double total = 0;
  for (Index begin = 0; begin < n; begin += block) {
    const Index end = std::min(n, begin + block);
    Batch<T> sum(0);
    Index i = begin;
    for (; i + lanes<T> <= end; i += lanes<T>) {
      const Batch<T> value = f(Batch<T>::load_unaligned(x + i)...);
      if (y != nullptr) value.store_unaligned(y + i);
      sum += value;
    }
    total += xsimd::hadd(sum);
    if (i < end) {
      alignas(64) T last[lanes<T>];
      f(load_part<T>(x + i, end - i)...).store_aligned(last);
      for (Index j = 0; j < end - i; ++j) total += last[j];
      if (y != nullptr) std::copy_n(last, end - i, y + i);
    }
  }
  return total;
}

template <class T>
double sum(Index n, const T* x) {
  return sum_of<T>(
      n, [](auto value) { return value; }, x);
}

/// The larger of the two; NaN if either is.
template <class B>
B larger(const B& a, const B& b) {
  return xsimd::select(a > b || xsimd::isnan(a), a, b);
}
template <class B>
B smaller(const B& a, const B& b) {
  return xsimd::select(a < b || xsimd::isnan(a), a, b);
}

/// Lane i of the result is lane i + distance of x, going round.
template <std::size_t distance, class T, std::size_t... lane>
Batch<T> rotated(const Batch<T>& x, std::index_sequence<lane...>) {
  const typename Batch<T>::register_type whole = x;
  return Batch<T>(__builtin_shufflevector(whole, whole, ((lane + distance) % sizeof...(lane))...));
}

/// The lanes put together by `f`, which is associative and commutative (larger, smaller).
template <class T, std::size_t distance = static_cast<std::size_t>(lanes<T>) / 2, class F>
T fold_lanes(const Batch<T>& x, F f) {
  if constexpr (distance == 0) {
    return x.get(0);
  } else {
    constexpr auto all = std::make_index_sequence<static_cast<std::size_t>(lanes<T>)>();
    return fold_lanes<T, distance / 2>(f(x, rotated<distance, T>(x, all)), f);
  }
}

/// x[0], x[1], ... put together by `f`. Needs n > 0.
template <class T, class F>
T fold(Index n, F f, const T* x) {
  const Index first = std::min(n, lanes<T>);
  Batch<T> a = load_part<T>(x, first, x[0]), b = a;
  Index i = first;
  for (; i + 2 * lanes<T> <= n; i += 2 * lanes<T>) {
    a = f(a, Batch<T>::load_unaligned(x + i));
    b = f(b, Batch<T>::load_unaligned(x + i + lanes<T>));
  }
  for (; i < n; i += lanes<T>) a = f(a, load_part<T>(x + i, std::min(n - i, lanes<T>), x[0]));
  return fold_lanes<T>(f(a, b), f);
}

/// Applies a scalar function lane by lane: where the vector version is inaccurate or depends on neighbouring lanes.
template <class F, class B, class... Bs>
B each_lane(F f, const B& x, const Bs&... more) {
  using T = typename B::value_type;
  struct Lanes {
    explicit Lanes(const B& from) { from.store_aligned(values); }
    alignas(64) T values[lanes<T>];
  };
  Lanes first(x);
  const auto apply = [&](const auto&... rest) {
    for (Index i = 0; i < lanes<T>; ++i) first.values[i] = f(first.values[i], rest.values[i]...);
  };
  apply(Lanes(more)...);
  return B::load_aligned(first.values);
}

}  // namespace tapestry::core
