#pragma once
// Denormal numbers are flushed to zero on the threads that compute.

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace tapestry::core {

/// Makes this thread treat numbers below the smallest normal one (1.2e-38 in f32) as zero. Zero gradients let Adam's
/// moments decay into that range, where an x86 core is 25 times slower; no result of training lives there. The f64
/// checks run flushed as well, so that they check what trains.
inline void flush_denormals() {
#if defined(__SSE2__)
  _mm_setcsr(_mm_getcsr() | 0x8040);  // FTZ: results, DAZ: operands
#endif
}

}  // namespace tapestry::core
