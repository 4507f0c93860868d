#include "autograd/layer_norm.h"

#include "autograd/ops.h"
#include "autograd/record.h"
#include "core/layer_norm.h"
#include "core/reduce.h"

namespace tapestry {
namespace {

// The shape of the last `axes` axes, which weight and bias must have.
Shape normalised_shape(const Var& x, const Var& weight, const Var& bias, int axes) {
  require(0 < axes && axes <= x.rank(), "layer_norm: the axes must be some of x's; given {} of {}", axes,
          x.shape().text());
  const Shape shape(std::span(x.shape().end() - axes, x.shape().end()));
  require_same_dtype("layer_norm", {x.value(), weight.value(), bias.value()});
  if (weight) require_shape("layer_norm", "the weight", weight.value(), shape);
  if (bias) require_shape("layer_norm", "the bias", bias.value(), shape);
  return shape;
}

}  // namespace

/// y = n weight + bias, n = (x - mean) / sqrt(variance + epsilon)
///   dx = (g - mean(g) - n mean(g n)) / sqrt(variance + epsilon), g = dy weight
///   dweight = sum over rows of dy n                              dbias = sum over rows of dy
Var layer_norm(const Var& x, const Var& weight, const Var& bias, int axes, double epsilon) {
  const Index width = normalised_shape(x, weight, bias, axes).numel();
  core::Normalised saved;
  const Tensor y = core::layer_norm(x.value(), width, weight.value(), bias.value(), epsilon,
                                    recording({x, weight, bias}) ? &saved : nullptr);
  return record("layer_norm", y, {x, weight, bias}, [saved, w = weight.value()](const Tensor& dy, Grads& dx) {
    if (dx.wants(0)) dx.add(0, core::layer_norm_backward(dy, w, saved));
    if (dx.wants(1)) core::layer_norm_backward_weight(dx.into(1), dy, saved);
    if (dx.wants(2)) {
      const Tensor into = dx.into(2);
      core::add_column_sums(into.reshape({into.numel()}), dy.reshape(saved.rows.shape()));
    }
  });
}

Var layer_norm_reference(const Var& x, const Var& weight, const Var& bias, int axes, double epsilon) {
  normalised_shape(x, weight, bias, axes);
  core::Axes last;
  for (int axis = 1; axis <= axes; ++axis) last.push_back(-axis);
  Var y = (x - mean(x, last, true)) / sqrt(variance(x, last, false, true) + epsilon);
  if (weight) y = y * weight;
  return bias ? y + bias : y;
}

}  // namespace tapestry
