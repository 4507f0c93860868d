#include "core/small_gemm.h"

#include <algorithm>
#include <vector>

#include "core/transposed.h"
#include "core/vector.h"

namespace tapestry::core {
namespace {

// A tile of C in registers: of AVX2's sixteen, twelve hold its sums, two a row of B and one an element of A, repeated.
constexpr int tile_sums = 12;
template <class T>
constexpr Index panel_width = 2 * lanes<T>;
// Of a transposed A, every column is a line of the first cache for a few rows of C: so many stay until the next rows.
constexpr Index columns_at_once = 64;
// So many rows of A, and their part of C, stay in the caches while a large B passes by.
constexpr Index rows_at_once = 64;

// Some rows of op(A): element (i, p) is a[i * row + p * column].
template <class T>
struct Left {
  const T* a;
  Index row, column;
};

// Some columns of op(B): row p is at b + p * stride, and can be read to the end of its last register.
template <class T>
struct Panel {
  const T* b;
  Index stride, columns;
};

// `rows` rows of C by a panel of so many registers.
template <int rows, int vectors, class T>
void tile(Index k, const Left<T>& left, const Panel<T>& panel, const Onto<T>& onto, T* c, Index ldc) {
  const auto count = [&](int v) { return std::min(lanes<T>, panel.columns - v * lanes<T>); };
  const bool whole = panel.columns == vectors * lanes<T>;
  Batch<T> sums[rows][vectors];
  for (int v = 0; v < vectors; ++v) {
    Batch<T> first(0);
    if (onto.row != nullptr) {
      const T* const from = onto.row + v * lanes<T>;
      first = whole ? Batch<T>::load_unaligned(from) : load_part<T>(from, count(v));
    }
    for (int i = 0; i < rows; ++i) sums[i][v] = first;
  }
  const T* a = left.a;
  const T* b = panel.b;
  for (Index p = 0; p < k; ++p, a += left.column, b += panel.stride) {
    Batch<T> right[vectors];
    for (int v = 0; v < vectors; ++v) right[v] = Batch<T>::load_unaligned(b + v * lanes<T>);
    for (int i = 0; i < rows; ++i) {
      const Batch<T> value(a[i * left.row]);
      for (int v = 0; v < vectors; ++v) sums[i][v] = fma(value, right[v], sums[i][v]);
    }
  }
  const auto each = [&](auto write) {
    for (int i = 0; i < rows; ++i)
      for (int v = 0; v < vectors; ++v) write(sums[i][v], v, c + i * ldc + v * lanes<T>);
  };
  const Batch<T> beta(onto.beta);
  if (whole) {  // loops without a branch, which leave the sums in their registers
    if (onto.beta == 0) {
      each([](const Batch<T>& sum, int, T* to) { sum.store_unaligned(to); });
    } else {
      each([&](const Batch<T>& sum, int, T* to) { fma(beta, Batch<T>::load_unaligned(to), sum).store_unaligned(to); });
    }
    return;
  }
  each([&](const Batch<T>& sum, int v, T* to) {
    store_part<T>(onto.beta == 0 ? sum : fma(beta, load_part<T>(to, count(v)), sum), count(v), to);
  });
}

// All rows of C by a panel: tiles of so many rows, then one with what is left.
template <int rows, int vectors, class T>
void column_of_tiles(Index m, Index k, Left<T> left, const Panel<T>& panel, const Onto<T>& onto, T* c, Index ldc) {
  for (; m >= rows; m -= rows) {
    tile<rows, vectors>(k, left, panel, onto, c, ldc);
    left.a += rows * left.row;
    c += rows * ldc;
  }
  if constexpr (rows > 1)
    if (m > 0) column_of_tiles<rows - 1, vectors>(m, k, left, panel, onto, c, ldc);
}

// The columns of op(B) from j on: as they lie, unless they lie transposed or end within a register.
template <class T>
Panel<T> panel_of(Transpose tb, Index n, Index k, const T* b, Index ldb, Index j) {
  constexpr Index width = panel_width<T>;
  const Index columns = std::min(width, n - j);
  if (tb == Transpose::no && columns % lanes<T> == 0) return {b + j, ldb, columns};
  thread_local std::vector<T> buffer;
  buffer.resize(std::max(buffer.size(), static_cast<std::size_t>(k * width)));
  T* const packed = buffer.data();
  if (tb == Transpose::yes) {
    transpose(columns, k, b + j * ldb, ldb, packed, width);
  } else {
    for (Index p = 0; p < k; ++p)
      std::fill(std::copy_n(b + p * ldb + j, columns, packed + p * width), packed + (p + 1) * width, T{0});
  }
  return {packed, width, columns};
}

// All panels of op(B), of which panel_at(j) is the one from column j on.
template <class T, class F>
void row_of_panels(Index m, Index n, Index k, const Left<T>& left, const Onto<T>& onto, T* c, Index ldc, F panel_at) {
  for (Index j = 0; j < n; j += panel_width<T>) {
    const Panel<T> panel = panel_at(j);
    Onto<T> columns = onto;
    if (onto.row != nullptr) columns.row += j;
    if (panel.columns > lanes<T>) {
      column_of_tiles<tile_sums / 2, 2>(m, k, left, panel, columns, c + j, ldc);
    } else {
      column_of_tiles<tile_sums, 1>(m, k, left, panel, columns, c + j, ldc);
    }
  }
}

}  // namespace

template <class T>
void small_gemm(Transpose ta, Transpose tb, Index m, Index n, Index k, const T* a, Index lda, const T* b, Index ldb,
                std::type_identity_t<Onto<T>> onto, T* c, Index ldc) {
  if (ta == Transpose::yes && k > columns_at_once) {
    for (Index p = 0; p < k; p += columns_at_once)
      small_gemm<T>(ta, tb, m, n, std::min(columns_at_once, k - p), a + p * lda, lda,
                    b + p * (tb == Transpose::yes ? 1 : ldb), ldb, p == 0 ? onto : Onto<T>(1), c, ldc);
    return;
  }
  const Left<T> left = ta == Transpose::yes ? Left<T>{a, 1, lda} : Left<T>{a, lda, 1};
  row_of_panels(m, n, k, left, onto, c, ldc, [&](Index j) { return panel_of(tb, n, k, b, ldb, j); });
}

template <class T>
Index packed_size(Index n, Index k) {
  return (n + panel_width<T> - 1) / panel_width<T> * panel_width<T> * k;
}

template <class T>
void pack_transposed(Index n, Index k, const T* b, Index ldb, T* packed) {
  for (Index j = 0; j < n; j += panel_width<T>)
    transpose(std::min(panel_width<T>, n - j), k, b + j * ldb, ldb, packed + j * k, panel_width<T>);
}

template <class T>
void packed_gemm(Index m, Index n, Index k, const T* a, Index lda, const T* packed, std::type_identity_t<Onto<T>> onto,
                 T* c, Index ldc) {
  const ProductTimer timer(2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k));
  for (Index i = 0; i < m; i += rows_at_once)
    row_of_panels(std::min(rows_at_once, m - i), n, k, Left<T>{a + i * lda, lda, 1}, onto, c + i * ldc, ldc,
                  [&](Index j) {
                    return Panel<T>{packed + j * k, panel_width<T>, std::min(panel_width<T>, n - j)};
                  });
}

template void small_gemm(Transpose, Transpose, Index, Index, Index, const float*, Index, const float*, Index,
                         Onto<float>, float*, Index);
template void small_gemm(Transpose, Transpose, Index, Index, Index, const double*, Index, const double*, Index,
                         Onto<double>, double*, Index);
template Index packed_size<float>(Index, Index);
template Index packed_size<double>(Index, Index);
template void pack_transposed(Index, Index, const float*, Index, float*);
template void pack_transposed(Index, Index, const double*, Index, double*);
template void packed_gemm(Index, Index, Index, const float*, Index, const float*, Onto<float>, float*, Index);
template void packed_gemm(Index, Index, Index, const double*, Index, const double*, Onto<double>, double*, Index);

}  // namespace tapestry::core
