#pragma once
// The floor under a training step: its matrix products alone.

#include <string>
#include <vector>

#include "core/dtype.h"

namespace tapestry {

/// One product C = op(A) op(B) of f32 matrices: [m,k] [k,n] -> [m,n].
struct Product {
  int m, n, k;
  bool a_transposed, b_transposed;
};

/// The steps that have a list of products.
const std::vector<std::string>& floor_names();

/// The products of one training step, forward and both backward products of each, in the order of the computation:
///
///   linear   y = x W^T, dx = dy W, dW += dy^T x
///   cell     input products of all steps at once; then, each step, one product with the state and one back
///
///   attention  of each sentence and head, scores and context and the four products back
///
/// d2l-bahdanau (GRU cells), lstm (the same model with LSTM cells) and d2l-transformer: 64 sentences, 10 steps, width
/// 32, 201 target words. transformer-tiny: 128 sentences of 16 tokens; transformer-base: 32 of 32; 10,000 words. Errors
/// (UsageError): none of floor_names().
std::vector<Product> floor_products(const std::string& benchmark);

/// 2 m n k of all of them.
double floating_point_operations(const std::vector<Product>& products);

/// Mean seconds of one round of the products straight through cblas, on one thread, over at least `seconds`.
double time_products(const std::vector<Product>& products, double seconds);

}  // namespace tapestry
