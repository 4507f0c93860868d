#pragma once
// The one file that knows the matrix product of the library underneath (cblas).

#include "core/dtype.h"

namespace tapestry::core {

enum class Transpose : bool { no, yes };

/// C = op(A) op(B) + beta C, row-major; op(A) is [m,k], op(B) is [k,n], C is [m,n]. `lda`, `ldb`, `ldc` are the
/// distances between rows as stored, so that a time step of a batch-major sequence or a head of a model width is read
/// in place. Runs on the calling thread alone: threads work on shards (see the design of training), never inside a
/// product. beta = 1 accumulates into a gradient or onto a bias that was laid down before.
template <class T>
void gemm(Transpose a_transposed, Transpose b_transposed, Index m, Index n, Index k, const T* a, Index lda, const T* b,
          Index ldb, T beta, T* c, Index ldc);

}  // namespace tapestry::core
