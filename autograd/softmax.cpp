#include "autograd/softmax.h"

#include "autograd/record.h"
#include "autograd/shape_ops.h"
#include "core/softmax.h"

namespace tapestry {

/// y_i = e^x_i / sum_j e^x_j             dx_i = y_i (dy_i - sum_j dy_j y_j)
Var softmax(const Var& x, int axis) {
  // The kernel knows rows; another axis is turned into the last one and back.
  if (x.shape().axis(axis) != x.rank() - 1) return transpose(softmax(transpose(x, axis, -1)), axis, -1);
  const Tensor y = core::softmax(x.value());
  return record("softmax", y, {x}, [y](const Tensor& dy, Grads& dx) { dx.add(0, core::softmax_backward(dy, y)); });
}

/// y_i = x_i - log sum_j e^x_j           dx_i = dy_i - e^y_i sum_j dy_j
Var log_softmax(const Var& x, int axis) {
  if (x.shape().axis(axis) != x.rank() - 1) return transpose(log_softmax(transpose(x, axis, -1)), axis, -1);
  const Tensor y = core::log_softmax(x.value());
  return record("log_softmax", y, {x},
                [y](const Tensor& dy, Grads& dx) { dx.add(0, core::log_softmax_backward(dy, y)); });
}

/// y_i = e^x_i / sum_j e^x_j over the keys seen, else 0           dx_i = y_i (dy_i - sum_j dy_j y_j)
Var masked_softmax(const Var& scores, const Mask& mask) {
  const Tensor y = core::masked_softmax(scores.value(), mask);
  return record("masked_softmax", y, {scores},
                [y, mask](const Tensor& dy, Grads& dx) { dx.add(0, core::masked_softmax_backward(dy, y, mask)); });
}

}  // namespace tapestry
