#pragma once
// Matrix products too small for a library that packs its operands.

#include "core/gemm.h"

namespace tapestry::core {

/// The product that `gemm` is, for k > 0. A is read as it lies, which pays while it is in the first caches, and so
/// are the rows of B; columns of a transposed B are laid out anew, a few at a time. Each element is one sum over k in
/// order, so that it does not depend on the other sizes.
template <class T>
void small_gemm(Transpose a_transposed, Transpose b_transposed, Index m, Index n, Index k, const T* a, Index lda,
                const T* b, Index ldb, std::type_identity_t<Onto<T>> onto, T* c, Index ldc);

/// Whether small_gemm is the faster one. Measured against OpenBLAS 0.3.21 on one core with AVX2, f32, beta = 0, in
/// GFLOP/s (theirs | ours), when the largest products ran at 75:
///
///   m n k of C [m,n]:       64 32 96   64 64 96   640 32 96   640 32 201   2048 128 128
///     A and B as stored       53 | 79    PLACE
///
/// Reading columns of A a few at a time, as A transposed asks for, misses the first cache sooner.
inline bool small_gemm_pays(Transpose a_transposed, Index m, Index n, Index k) {
  const Index in_cache = Index{1} << (a_transposed == Transpose::yes ? 16 : 17);
  return m * k <= in_cache && k * n <= Index{1} << 15 && n <= (a_transposed == Transpose::yes ? 64 : 256);
}

}  // namespace tapestry::core
