#include "core/gemm.h"

#include <cblas.h>

#include <algorithm>

#include "core/small_gemm.h"

namespace tapestry::core {
namespace {

// Before any product: two threads inside the library would serialise our shards (measured: slower than one thread).
[[maybe_unused]] const bool single_threaded = [] {
  openblas_set_num_threads(1);
  return true;
}();

CBLAS_TRANSPOSE flag(Transpose t) {
  return t == Transpose::yes ? CblasTrans : CblasNoTrans;
}

void blas_gemm(Transpose ta, Transpose tb, blasint m, blasint n, blasint k, const float* a, blasint lda, const float* b,
               blasint ldb, float beta, float* c, blasint ldc) {
  cblas_sgemm(CblasRowMajor, flag(ta), flag(tb), m, n, k, 1, a, lda, b, ldb, beta, c, ldc);
}
void blas_gemm(Transpose ta, Transpose tb, blasint m, blasint n, blasint k, const double* a, blasint lda,
               const double* b, blasint ldb, double beta, double* c, blasint ldc) {
  cblas_dgemm(CblasRowMajor, flag(ta), flag(tb), m, n, k, 1, a, lda, b, ldb, beta, c, ldc);
}

}  // namespace

template <class T>
void gemm(Transpose ta, Transpose tb, Index m, Index n, Index k, const T* a, Index lda, const T* b, Index ldb,
          std::type_identity_t<Onto<T>> onto, T* c, Index ldc) {
  if (m == 0 || n == 0) return;
  if (k == 0) {  // a and b may point nowhere
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j) {
        T& to = c[i * ldc + j];
        to = onto.row != nullptr ? onto.row[j] : onto.beta == 0 ? T{0} : onto.beta * to;
      }
    return;
  }
  const ProductTimer timer(2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k));
  if (small_gemm_pays(ta, m, n, k)) return small_gemm<T>(ta, tb, m, n, k, a, lda, b, ldb, onto, c, ldc);
  if (onto.row != nullptr)
    for (Index i = 0; i < m; ++i) std::copy_n(onto.row, n, c + i * ldc);
  const auto size = [](Index x) { return static_cast<blasint>(x); };
  blas_gemm(ta, tb, size(m), size(n), size(k), a, size(lda), b, size(ldb), onto.row != nullptr ? 1 : onto.beta, c,
            size(ldc));
}

template void gemm(Transpose, Transpose, Index, Index, Index, const float*, Index, const float*, Index, Onto<float>,
                   float*, Index);
template void gemm(Transpose, Transpose, Index, Index, Index, const double*, Index, const double*, Index, Onto<double>,
                   double*, Index);

}  // namespace tapestry::core
