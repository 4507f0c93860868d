#pragma once
// A loop on vector registers whose body reads and writes several arrays (core/vector.h has those with one result).

#include "core/vector.h"

namespace tapestry::core {

/// A whole register, and the first `count` elements of one: the same code runs on both.
template <class T>
struct WholeVector {
  Batch<T> load(const T* from) const { return Batch<T>::load_unaligned(from); }
  void store(const Batch<T>& value, T* to) const { value.store_unaligned(to); }
  Batch<T> only(const Batch<T>& value) const { return value; }
};
template <class T>
struct PartVector {
  Index count;
  Batch<T> load(const T* from) const { return load_part(from, count); }
  void store(const Batch<T>& value, T* to) const { store_part(value, count, to); }
  /// Zero beyond the end, for a sum over the lanes of what need not be zero there.
  Batch<T> only(const Batch<T>& value) const {
    alignas(64) T all[lanes<T>];
    value.store_aligned(all);
    return load_part(all, count);
  }
};

/// body(i, vector) for i = 0, lanes, 2 lanes, ...: `vector.load(x + i)`, `vector.store(value, y + i)`.
template <class T, class F>
void for_vectors(Index n, F body) {
  Index i = 0;
  for (; i + lanes<T> <= n; i += lanes<T>) body(i, WholeVector<T>{});
  if (i < n) body(i, PartVector<T>{n - i});
}

template <class T>
T dot(Index n, const T* a, const T* b) {
  Batch<T> sum(0);
  for_vectors<T>(n, [&](Index i, auto v) { sum = fma(v.load(a + i), v.load(b + i), sum); });
  return hadd(sum);
}

/// y += c x
template <class T>
void add_scaled(Index n, T c, const T* x, T* y) {
  for_vectors<T>(n, [&](Index i, auto v) { v.store(fma(Batch<T>(c), v.load(x + i), v.load(y + i)), y + i); });
}

}  // namespace tapestry::core
