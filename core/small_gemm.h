#pragma once
// Matrix products too small for a library that packs its operands.

#include "core/gemm.h"

namespace tapestry::core {

/// The product that `gemm` is, for k > 0. A is read as it lies, which pays while it is in the first caches, and so are
/// the rows of B; columns of a transposed B are laid out anew, a few at a time. An element is a sum over k in order (of
/// a transposed A, in order within parts of fixed length), so that it does not depend on the other sizes.
template <class T>
void small_gemm(Transpose a_transposed, Transpose b_transposed, Index m, Index n, Index k, const T* a, Index lda,
                const T* b, Index ldb, std::type_identity_t<Onto<T>> onto, T* c, Index ldc);

/// B [k,n], stored transposed with `ldb` between its rows, laid out once for many products with few rows, each of which
/// would else lay it out again: packed_size numbers. Measured as below with C [64,10000] and k = 128: 62 GFLOP/s, where
/// the library's way reaches 45.
template <class T>
Index packed_size(Index n, Index k);
template <class T>
void pack_transposed(Index n, Index k, const T* b, Index ldb, T* packed);

/// C [m,n] = A [m,k] B + what `onto` says, of a B that pack_transposed laid out. The same bits as small_gemm's.
template <class T>
void packed_gemm(Index m, Index n, Index k, const T* a, Index lda, const T* packed, std::type_identity_t<Onto<T>> onto,
                 T* c, Index ldc);

/// Whether small_gemm is the faster one. Measured against OpenBLAS 0.3.21 on one core with AVX2, f32, beta = 0, in
/// GFLOP/s (theirs | ours), where large products reach 80:
///
///   m n k of C [m,n]:       64 32 96   640 32 96   640 32 201   10 8 10   16 32 16
///     A and B as stored       58 | 68    61 | 85     57 | 73      5 | 20   27 | 54
///                           64 96 32   640 96 32   640 201 32   64 32 32   16 16 32
///     B transposed            49 | 65    53 | 71     44 | 57     44 | 64   26 | 48
///                           96 32 64   96 32 640   201 32 640   16 32 16   128 128 2048
///     A transposed            60 | 84    73 | 79     69 | 77     20 | 52   78 | 66
///
/// From 2048 128 128 on the two are equal, and the library's way with the caches is the safer one.
inline bool small_gemm_pays(Transpose a_transposed, Index m, Index n, Index k) {
  return m * k <= Index{1} << 17 && k * n <= Index{1} << 15 && n <= (a_transposed == Transpose::yes ? 64 : 256);
}

}  // namespace tapestry::core
