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
                    Tensor da = core::matmul(dm, Transpose::no, right, Transpose::yes);
                    dx.add(0, core::sum_to(std::move(da), left_shape).reshape(a_shape));
                  }
                  if (!dx.wants(1)) return;
                  if (right_shape.rank() == 2) {  // every row of a met this one matrix: one product over all rows
                    core::add_product(dx.into(1).reshape(right_shape), left.reshape({-1, left.size(-1)}),
                                      Transpose::yes, dm.reshape({-1, dm.size(-1)}), Transpose::no);
                  } else {
                    Tensor db = core::matmul(left, Transpose::yes, dm, Transpose::no);
                    dx.add(1, core::sum_to(std::move(db), right_shape).reshape(b_shape));
                  }
                });
}

namespace {

// A linear layer on the rows of x: what forward computes and backward needs.
struct LinearRows {
  Tensor x;             // [N,in]
  Tensor weight, bias;  // [out,in], [out]
  RowRange range;       // which rows of the parameters these are
  Shape x_shape;

  LinearRows(const char* op, const Var& x_, const Var& weight_, const Var& bias_, RowRange rows) : range(rows) {
    require(weight_ && weight_.rank() == 2 && x_ && x_.rank() > 0 && x_.size(-1) == weight_.size(1),
            "{}: x must be [..., in] and the weight [out, in]; given {} and {}", op, x_.value(), weight_.value());
    require_same_dtype(op, {x_.value(), weight_.value(), bias_.value()});
    if (bias_) require_shape(op, "the bias", bias_.value(), {weight_.size(0)});
    if (range.end < 0) range.end = weight_.size(0);
    require(0 <= range.begin && range.begin < range.end && range.end <= weight_.size(0),
            "{}: rows of the weight must be some of {}; given {} to {}", op, weight_.size(0), range.begin, range.end);
    const Index in = weight_.size(1);
    x_shape = x_.shape();
    x = x_.value().reshape({in > 0 ? x_.value().numel() / in : x_.value().numel(), in});
    weight = part(weight_.value());
    if (bias_) bias = part(bias_.value());
  }
  Tensor part(const Tensor& parameter) const { return parameter.rows(range.begin, range.end); }

  Tensor forward() const { return core::linear(x, weight, bias); }
  void backward(const Tensor& g, Grads& dx) const {  // g [N,out]
    if (dx.untouched(0)) {
      dx.add(0, core::matmul(g, Transpose::no, weight, Transpose::no).reshape(x_shape));
    } else if (dx.wants(0)) {
      core::add_product(dx.into(0).reshape({g.size(0), weight.size(1)}), g, Transpose::no, weight, Transpose::no);
    }
    if (dx.wants(1)) core::add_product(part(dx.into(1)), g, Transpose::yes, x, Transpose::no);
    if (dx.wants(2)) core::add_column_sums(part(dx.into(2)), g);
  }
  // Before the layer is captured: x is only read for the gradient of the weight.
  void release(const Var& parameter) {
    if (!recording({parameter})) x = {};
    bias = {};
  }
};

}  // namespace

/// y = x W^T + b                         dx = dy W, dW = dy^T x, db = column sums of dy
Var linear(const Var& x, const Var& weight, const Var& bias, const RowRange& rows) {
  LinearRows layer("linear", x, weight, bias, rows);
  const Tensor y = layer.forward();
  const Index out = y.size(1);
  layer.release(weight);
  return record("linear", y.reshape(x.shape().with(-1, out)), {x, weight, bias},
                [layer = std::move(layer), out](const Tensor& dy, Grads& dx) {
                  layer.backward(dy.reshape({-1, out}), dx);
                });
}

Var linear_reference(const Var& x, const Var& weight, const Var& bias, const RowRange& rows) {
  const Index end = rows.end < 0 ? weight.size(0) : rows.end;
  const Var y = matmul(x, transpose(slice(weight, 0, rows.begin, end), 0, 1));
  return bias ? add(y, slice(bias, 0, rows.begin, end)) : y;
}

/// y = m max(x W^T + b, 0) / (1 - p)     dz = dy / (1 - p) where y > 0, else 0; then as `linear`
Var linear_relu(const Var& x, const Var& weight, const Var& bias, double p, const DropoutKey& key) {
  LinearRows layer("linear_relu", x, weight, bias, {});
  const Tensor y = layer.forward();
  const double scale = core::dropout_scale(p);
  const Shape shape = x.shape().with(-1, y.size(1));
  core::relu_dropout(y, p == 0 ? core::BitMask() : dropout_mask_of("linear_relu", Var(y.reshape(shape)), p, key),
                     scale);
  layer.release(weight);
  return record("linear_relu", y.reshape(shape), {x, weight, bias},
                [layer = std::move(layer), y, scale](const Tensor& dy, Grads& dx) {
                  layer.backward(core::relu_dropout_backward(dy.reshape(y.shape()), y, scale), dx);
                });
}

Var linear_relu_reference(const Var& x, const Var& weight, const Var& bias, double p, const DropoutKey& key) {
  return dropout(relu(linear_reference(x, weight, bias)), p, key);
}

}  // namespace tapestry
