#include "autograd/matmul.h"

#include "autograd/elementwise.h"
#include "autograd/record.h"
#include "autograd/shape_ops.h"
#include "core/accumulate.h"
#include "core/matmul.h"
#include "core/reduce.h"
#include "core/views.h"

namespace tapestry {

using core::Transpose;

/// y = a b                               da = dy b^T, db = a^T dy
Var matmul(const Var& a, const Var& b) {
  require(a.rank() > 0 && b.rank() > 0, "matmul: vectors or matrices are needed; given {} and {}", a.shape(),
          b.shape());
  const Tensor left = a.rank() == 1 ? a.value().reshape({1, -1}) : a.value();
  const Tensor right = b.rank() == 1 ? b.value().reshape({-1, 1}) : b.value();
  const Tensor y = core::matmul(left, Transpose::no, right, Transpose::no);  // [..., m, n]
  Shape shape = y.shape();
  if (b.rank() == 1) shape = shape.without(-1);
  if (a.rank() == 1) shape = shape.without(b.rank() == 1 ? -1 : -2);
  return record("matmul", y.reshape(shape), {a, b},
                [left = recording({b}) ? left : Tensor(), right = recording({a}) ? right : Tensor(),
                 matrices = y.shape(), a_shape = a.shape(), b_shape = b.shape(), left_shape = left.shape(),
                 right_shape = right.shape()](const Tensor& dy, Grads& dx) {
                  const Tensor dm = dy.reshape(matrices);
                  if (dx.wants(0)) {
                    const Tensor da = core::matmul(dm, Transpose::no, right, Transpose::yes);
                    dx.add(0, core::sum_to(da, left_shape).reshape(a_shape));
                  }
                  if (!dx.wants(1)) return;
                  if (right_shape.rank() == 2) {  // every row of a met this one matrix: one product over all rows
                    core::add_product(dx.into(1).reshape(right_shape), left.reshape({-1, left.size(-1)}),
                                      Transpose::yes, dm.reshape({-1, dm.size(-1)}), Transpose::no);
                  } else {
                    const Tensor db = core::matmul(left, Transpose::yes, dm, Transpose::no);
                    dx.add(1, core::sum_to(db, right_shape).reshape(b_shape));
                  }
                });
}

/// y = x W^T + b                         dx = dy W, dW = dy^T x, db = column sums of dy
Var linear(const Var& x, const Var& weight, const Var& bias) {
  require(weight.rank() == 2 && x.rank() > 0 && x.size(-1) == weight.size(1),
          "linear: x must be [..., in] and the weight [out, in]; given {} and {}", x.shape(), weight.shape());
  require_same_dtype("linear", {x.value(), weight.value(), bias.value()});
  const Index out = weight.size(0), in = weight.size(1);
  if (bias) require_shape("linear", "the bias", bias.value(), {out});
  const Index rows = in > 0 ? x.numel() / in : x.numel();
  const Tensor x2 = x.value().reshape({rows, in});
  const Tensor y =
      bias ? core::broadcast_to("linear", bias.value(), {rows, out}) : Tensor::zeros({rows, out}, x.dtype());
  core::add_product(y, x2, Transpose::no, weight.value(), Transpose::yes);
  return record("linear", y.reshape(x.shape().with(-1, out)), {x, weight, bias},
                [x = recording({weight}) ? x2 : Tensor(), w = recording({x}) ? weight.value() : Tensor(), rows, in,
                 out](const Tensor& dy, Grads& dx) {
                  const Tensor g = dy.reshape({rows, out});
                  if (dx.wants(0))
                    core::add_product(dx.into(0).reshape({rows, in}), g, Transpose::no, w, Transpose::no);
                  if (dx.wants(1)) core::add_product(dx.into(1), g, Transpose::yes, x, Transpose::no);
                  if (dx.wants(2)) core::add_column_sums(dx.into(2), g);
                });
}

Var linear_reference(const Var& x, const Var& weight, const Var& bias) {
  const Var y = matmul(x, transpose(weight, 0, 1));
  return bias ? add(y, bias) : y;
}

}  // namespace tapestry
