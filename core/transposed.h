#pragma once
// Rows into columns, a square of registers at a time.

#include <algorithm>
#include <utility>

#include "core/vector.h"

namespace tapestry::core {

/// Half of the lanes of a and b, taken in turn: a0 b0 a1 b1 ..., from the upper half if `high`.
template <bool high, class T, std::size_t... lane>
Batch<T> interleaved(const Batch<T>& a, const Batch<T>& b, std::index_sequence<lane...>) {
  constexpr std::size_t count = sizeof...(lane), first = high ? count / 2 : 0;
  using Register = typename Batch<T>::register_type;
  return Batch<T>(__builtin_shufflevector(static_cast<Register>(a), static_cast<Register>(b),
                                          (first + lane / 2 + lane % 2 * count)...));
}

/// The square of numbers in `lanes` registers, transposed: as many rounds as halvings lead from `lanes` to 1, each of
/// which interleaves register i with register i + lanes / 2. A round turns the digits of (register, lane) by one.
template <class T>
void transpose_square(Batch<T> (&rows)[static_cast<std::size_t>(lanes<T>)]) {
  constexpr auto count = static_cast<std::size_t>(lanes<T>);
  constexpr auto all = std::make_index_sequence<count>();
  for (std::size_t round = 1; round < count; round *= 2) {
    Batch<T> next[count];
    for (std::size_t i = 0; i < count / 2; ++i) {
      next[2 * i] = interleaved<false, T>(rows[i], rows[i + count / 2], all);
      next[2 * i + 1] = interleaved<true, T>(rows[i], rows[i + count / 2], all);
    }
    for (std::size_t i = 0; i < count; ++i) rows[i] = next[i];
  }
}

/// to [columns, rows] = from [rows, columns] transposed. Rows of `to` are filled with zeros to the next whole register.
template <class T>
void transpose(Index rows, Index columns, const T* from, Index from_stride, T* to, Index to_stride) {
  constexpr Index width = lanes<T>;
  for (Index i = 0; i < rows; i += width) {
    for (Index j = 0; j < columns; j += width) {
      const Index count = std::min(width, rows - i), across = std::min(width, columns - j);
      const T* const source = from + i * from_stride + j;
      Batch<T> square[static_cast<std::size_t>(width)];
      for (Index r = 0; r < width; ++r) {
        if (r >= count) {
          square[r] = Batch<T>(0);
        } else if (across == width) {
          square[r] = Batch<T>::load_unaligned(source + r * from_stride);
        } else {
          square[r] = load_part<T>(source + r * from_stride, across);
        }
      }
      transpose_square<T>(square);
      for (Index r = 0; r < across; ++r) square[r].store_unaligned(to + (j + r) * to_stride + i);
    }
  }
}

}  // namespace tapestry::core
