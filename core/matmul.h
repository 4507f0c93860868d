#pragma once
// Matrix products of tensors.

#include "core/gemm.h"
#include "core/tensor.h"

namespace tapestry::core {

/// c [m,n] += op(a) op(b), where op(a) is [m,k] and op(b) is [k,n]. Errors: sizes do not fit, or a dtype differs.
void add_product(const Tensor& c, const Tensor& a, Transpose a_transposed, const Tensor& b, Transpose b_transposed);

/// op(a) op(b) of the last two axes, for each element of the broadcast leading axes: [..., m, n].
/// Errors name `matmul`: a has no two axes, or the inner sizes differ.
Tensor matmul(const Tensor& a, Transpose a_transposed, const Tensor& b, Transpose b_transposed);

/// What a product with a bias, [n] or absent, is put onto.
template <class T>
Onto<T> onto_row(const Tensor& bias) {
  return bias ? Onto<T>::repeated(bias.data<T>()) : Onto<T>(0);
}

/// x W^T + bias for the rows of x [N,in], W [out,in], bias [out] or absent: [N,out].
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias);

/// The same function of x for a weight that stays as it is, laid out once for many products with few rows: the output
/// layer of a model that decodes.
class PackedLinear {
 public:
  PackedLinear(const Tensor& weight, const Tensor& bias);
  Tensor operator()(const Tensor& x) const;

 private:
  Tensor packed_, bias_;
  Index out_, in_;
};

}  // namespace tapestry::core
