#pragma once
// What the sines and cosines of positions are like, in tables.

#include "core/tensor.h"

namespace tapestry {

/// The linear map [D,D] that takes P[t] to P[t + distance] for every t, in f64: it turns the pair of features 2i and
/// 2i + 1 by the angle distance / 10000^(2i/D), and mixes nothing else.
Tensor position_rotation(Index width, Index distance);

/// Element [p, i] is bit i of the number p: [positions, bits], in f64. Bit i changes every 2^i positions.
Tensor binary_codes(Index positions, Index bits);

/// The products of the rows of x [n,D] with each other, over D / 2: [n,n]. Rows of positions have the product 1 with
/// themselves.
Tensor row_products(const Tensor& x);

}  // namespace tapestry
