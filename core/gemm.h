#pragma once
// The one file that knows the matrix product of the library underneath (cblas).

#include <type_traits>

#include "core/dtype.h"

namespace tapestry::core {

enum class Transpose : bool { no, yes };

/// What a product is added to: beta C (with 0, what is there is not even read), or one row [n] for all rows of C, which
/// is a bias.
template <class T>
struct Onto {
  Onto(T factor) : beta(factor) {}
  static Onto repeated(const T* row) {
    Onto onto(0);
    onto.row = row;
    return onto;
  }
  T beta;
  const T* row = nullptr;
};

/// C = op(A) op(B) + what `onto` says, row-major; op(A) is [m,k], op(B) is [k,n], C is [m,n]. `lda`, `ldb`, `ldc` are
/// the distances between rows as stored, so that a time step of a batch-major sequence or a head of a model width is
/// read in place. Runs on the calling thread alone: threads work on shards (see the design of training), never inside a
/// product.
template <class T>
void gemm(Transpose a_transposed, Transpose b_transposed, Index m, Index n, Index k, const T* a, Index lda, const T* b,
          Index ldb, std::type_identity_t<Onto<T>> onto, T* c, Index ldc);

}  // namespace tapestry::core
