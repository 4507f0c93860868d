#include "core/small_gemm.h"

#include <algorithm>
#include <vector>

#include "core/vector.h"

namespace tapestry::core {
namespace {

// A tile of C in registers: 6 rows of 2 vectors take 12 of the 16 registers of AVX2, two more hold a row of B and one
// an element of A, repeated.
constexpr Index tile_rows = 6, tile_vectors = 2;

// A as stored: element (i, p) is a[i * row + p * column].
template <class T>
struct Left {
  const T* a;
  Index row, column;
};

// Rows x (vectors * lanes) of C; of the last vector `last` lanes are stored.
template <int rows, int vectors, class T>
void tile(Index k, const Left<T>& left, const T* b, Index ldb, T beta, T* c, Index ldc, Index last) {
  Batch<T> sums[rows][vectors];
  for (auto& row : sums)
    for (auto& sum : row) sum = Batch<T>(0);
  const T* a = left.a;
  for (Index p = 0; p < k; ++p, a += left.column, b += ldb) {
    Batch<T> right[vectors];
    for (int v = 0; v < vectors; ++v) right[v] = Batch<T>::load_unaligned(b + v * lanes<T>);
    for (int i = 0; i < rows; ++i) {
      const Batch<T> value(a[i * left.row]);
      for (int v = 0; v < vectors; ++v) sums[i][v] = fma(value, right[v], sums[i][v]);
    }
  }
  for (int i = 0; i < rows; ++i) {
    for (int v = 0; v < vectors; ++v) {
      T* const to = c + i * ldc + v * lanes<T>;
      const Index count = v + 1 == vectors ? last : lanes<T>;
      Batch<T> sum = sums[i][v];
      if (count == lanes<T>) {
        if (beta != 0) sum = fma(Batch<T>(beta), Batch<T>::load_unaligned(to), sum);
        sum.store_unaligned(to);
      } else {
        if (beta != 0) sum = fma(Batch<T>(beta), load_part<T>(to, count), sum);
        store_part<T>(sum, count, to);
      }
    }
  }
}

template <int vectors, class T>
void column_of_tiles(Index m, Index k, Left<T> left, const T* b, Index ldb, T beta, T* c, Index ldc, Index last) {
  Index i = 0;
  const auto run = [&]<int rows> {
    tile<rows, vectors>(k, Left<T>{left.a + i * left.row, left.row, left.column}, b, ldb, beta, c + i * ldc, ldc, last);
    i += rows;
  };
  while (m - i >= tile_rows) run.template operator()<tile_rows>();
  switch (m - i) {
    case 5:
      return run.template operator()<5>();
    case 4:
      return run.template operator()<4>();
    case 3:
      return run.template operator()<3>();
    case 2:
      return run.template operator()<2>();
    case 1:
      return run.template operator()<1>();
    default:
      return;
  }
}

// B with rows of `padded` columns, zero beyond n.
template <class T>
const T* padded_rows(Index n, Index k, const T* b, Index ldb, Index padded) {
  thread_local std::vector<T> buffer;
  buffer.resize(static_cast<std::size_t>(k * padded));
  for (Index p = 0; p < k; ++p) {
    T* const row = buffer.data() + p * padded;
    std::fill(std::copy_n(b + p * ldb, n, row), row + padded, T{0});
  }
  return buffer.data();
}

}  // namespace

template <class T>
void small_gemm(Transpose ta, Index m, Index n, Index k, const T* a, Index lda, const T* b, Index ldb, T beta, T* c,
                Index ldc) {
  if (k == 0) {  // nothing to read, and a and b may point nowhere
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j) c[i * ldc + j] = beta == 0 ? T{0} : beta * c[i * ldc + j];
    return;
  }
  const Index width = lanes<T>, padded = (n + width - 1) / width * width;
  if (padded != n) {
    b = padded_rows(n, k, b, ldb, padded);
    ldb = padded;
  }
  const Left<T> left = ta == Transpose::yes ? Left<T>{a, 1, lda} : Left<T>{a, lda, 1};
  for (Index j = 0; j < n; j += tile_vectors * width) {
    const Index vectors = std::min(tile_vectors, (n - j + width - 1) / width);
    const Index last = std::min(width, n - j - (vectors - 1) * width);
    if (vectors == 2) {
      column_of_tiles<2>(m, k, left, b + j, ldb, beta, c + j, ldc, last);
    } else {
      column_of_tiles<1>(m, k, left, b + j, ldb, beta, c + j, ldc, last);
    }
  }
}

template void small_gemm(Transpose, Index, Index, Index, const float*, Index, const float*, Index, float, float*,
                         Index);
template void small_gemm(Transpose, Index, Index, Index, const double*, Index, const double*, Index, double, double*,
                         Index);

}  // namespace tapestry::core
