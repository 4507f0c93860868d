#include "core/gemm.h"

#include <cblas.h>

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

}  // namespace

template <>
void gemm(Transpose ta, Transpose tb, Index m, Index n, Index k, const float* a, Index lda, const float* b, Index ldb,
          float beta, float* c, Index ldc) {
  if (m == 0 || n == 0) return;
  if (tb == Transpose::no && small_gemm_pays(m, n, k)) return small_gemm(ta, m, n, k, a, lda, b, ldb, beta, c, ldc);
  cblas_sgemm(CblasRowMajor, flag(ta), flag(tb), static_cast<blasint>(m), static_cast<blasint>(n),
              static_cast<blasint>(k), 1, a, static_cast<blasint>(lda), b, static_cast<blasint>(ldb), beta, c,
              static_cast<blasint>(ldc));
}

template <>
void gemm(Transpose ta, Transpose tb, Index m, Index n, Index k, const double* a, Index lda, const double* b, Index ldb,
          double beta, double* c, Index ldc) {
  if (m == 0 || n == 0) return;
  if (tb == Transpose::no && small_gemm_pays(m, n, k)) return small_gemm(ta, m, n, k, a, lda, b, ldb, beta, c, ldc);
  cblas_dgemm(CblasRowMajor, flag(ta), flag(tb), static_cast<blasint>(m), static_cast<blasint>(n),
              static_cast<blasint>(k), 1, a, static_cast<blasint>(lda), b, static_cast<blasint>(ldb), beta, c,
              static_cast<blasint>(ldc));
}

}  // namespace tapestry::core
