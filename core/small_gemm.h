#pragma once
// Matrix products too small for a library that packs its operands.

#include "core/gemm.h"

namespace tapestry::core {

/// C = op(A) B + beta C as `gemm` has it, reading the operands as they lie, which pays while they are in the first
/// caches. Each element is one sum over k in order, so that it does not depend on the other sizes.
template <class T>
void small_gemm(Transpose a_transposed, Index m, Index n, Index k, const T* a, Index lda, const T* b, Index ldb, T beta,
                T* c, Index ldc);

/// Whether small_gemm is the faster one for B [k,n] as stored. Measured against OpenBLAS 0.3.21 on one core with AVX2,
/// f32, in GFLOP/s (theirs | ours):
///
///   m n k of C [m,n]:       64 32 96   64 64 96   640 32 96   256 32 201   512 128 128
///     A as stored             66 | 70    68 | 75     72 | 87      73 | 90       85 | 88
///   m n k:                  96 32 64   64 64 64   32 32 640   201 32 256   128 128 1024
///     A transposed            72 | 81    68 | 70     60 | 78      75 | 91       84 | 58
///
/// Products with B transposed, which would have to be laid out anew (64 96 32: 66 | 56), stay with the library.
inline bool small_gemm_pays(Index m, Index n, Index k) {
  return n <= 64 && m * k <= Index{1} << 17 && k * n <= Index{1} << 15;
}

}  // namespace tapestry::core
