#include "autograd/layer_norm.h"

#include "autograd/ops.h"
#include "autograd/record.h"
#include "core/layer_norm.h"

namespace tapestry {
namespace {

// The shape of the last `axes` axes, which weight and bias must have.
Shape normalised_shape(const char* op, const Var& x, const Var& weight, const Var& bias, int axes) {
  require(0 < axes && axes <= x.rank(), "{}: the axes must be some of x's; given {} of {}", op, axes, x.shape());
  const Shape shape(std::span(x.shape().end() - axes, x.shape().end()));
  require_same_dtype(op, {x.value(), weight.value(), bias.value()});
  if (weight) require_shape(op, "the weight", weight.value(), shape);
  if (bias) require_shape(op, "the bias", bias.value(), shape);
  return shape;
}

}  // namespace

/// y = n weight + bias, n = (x - mean) / sqrt(variance + epsilon)
///   dx = (g - mean(g) - n mean(g n)) / sqrt(variance + epsilon), g = dy weight
///   dweight = sum over rows of dy n                              dbias = sum over rows of dy
Var layer_norm(const Var& x, const Var& weight, const Var& bias, int axes, double epsilon) {
  const Index width = normalised_shape("layer_norm", x, weight, bias, axes).numel();
  const auto result =
      core::layer_norm({x.value(), {}, weight.value(), bias.value(), width, epsilon}, recording({x, weight, bias}));
  return record("layer_norm", result.y, {x, weight, bias}, [saved = result.saved](const Tensor& dy, Grads& dx) {
    auto gradients =
        core::layer_norm_backward(saved, dy, dx.wants(0), false, dx.into_if_wanted(1), dx.into_if_wanted(2));
    if (gradients.x) dx.add(0, std::move(gradients.x));
  });
}

Var layer_norm_reference(const Var& x, const Var& weight, const Var& bias, int axes, double epsilon) {
  normalised_shape("layer_norm", x, weight, bias, axes);
  core::Axes last;
  for (int axis = 1; axis <= axes; ++axis) last.push_back(-axis);
  Var y = (x - mean(x, last, true)) / sqrt(variance(x, last, false, true) + epsilon);
  if (weight) y = y * weight;
  return bias ? y + bias : y;
}

/// As layer_norm, of s = residual + dropout(x): dresidual = ds, dx = dropout's bits times ds.
Var add_norm(const Var& x, const Var& residual, const Var& weight, const Var& bias, const AddNormOptions& options) {
  const Index width = normalised_shape("add_norm", x, weight, bias, 1).numel();
  require_shape("add_norm", "the residual", residual.value(), x.shape());
  require_same_dtype("add_norm", {x.value(), residual.value()});
  core::LayerNormInputs in{x.value(), residual.value(), weight.value(), bias.value(), width, options.epsilon};
  if (options.p != 0) {
    in.kept = dropout_mask_of("add_norm", x, options.p, options.key);
    in.kept_scale = core::dropout_scale(options.p);
  }
  const std::initializer_list<std::reference_wrapper<const Var>> inputs = {x, residual, weight, bias};
  const auto result = core::layer_norm(in, recording(inputs));
  return record("add_norm", result.y, inputs, [saved = result.saved](const Tensor& dy, Grads& dx) {
    auto gradients =
        core::layer_norm_backward(saved, dy, dx.wants(0), dx.wants(1), dx.into_if_wanted(2), dx.into_if_wanted(3));
    if (gradients.x) dx.add(0, std::move(gradients.x));
    if (gradients.residual) dx.add(1, std::move(gradients.residual));
  });
}

Var add_norm_reference(const Var& x, const Var& residual, const Var& weight, const Var& bias,
                       const AddNormOptions& options) {
  return layer_norm_reference(residual + dropout(x, options.p, options.key), weight, bias, 1, options.epsilon);
}

}  // namespace tapestry
