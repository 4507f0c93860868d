#include "autograd/loss.h"

#include "autograd/ops.h"
#include "autograd/record.h"

namespace tapestry {
namespace {

Shape rows_of(const char* op, const Var& x, const Ids& targets) {
  require(x && x.rank() > 0, "{}: at least one axis is needed; given {}", op, x.value());
  const Shape rows = x.shape().without(-1);
  require(targets.shape() == rows, "{}: targets must be {} for {}; given {}", op, rows, x.shape(), targets.shape());
  return rows;
}

// target += c source
void add_scaled(const Tensor& target, double c, const Tensor& source) {
  dispatch(target.dtype(), [&]<class T> {
    T* const to = target.data<T>();
    const T* const from = source.data<T>();
    const T factor = static_cast<T>(c);
    for (Index i = 0, n = target.numel(); i < n; ++i) to[i] += factor * from[i];
  });
}

}  // namespace

Var mse_loss(const Var& input, const Var& target, Reduction reduction) {
  require(input && target && input.shape() == target.shape(), "mse_loss: both must have one shape; given {} and {}",
          input.value(), target.value());
  const Var squares = square(input - target);
  if (reduction == Reduction::none) return squares;
  return reduction == Reduction::sum ? sum(squares) : mean(squares);
}

/// loss = -log softmax(x)[t]            dx = dloss (softmax(x) - onehot(t))        and as the options weight it
Var cross_entropy(const Var& logits, const Ids& targets, const CrossEntropyOptions& options) {
  const Shape rows = rows_of("cross_entropy", logits, targets);
  const Index classes = logits.size(-1);
  core::check_cross_entropy("cross_entropy", rows.numel(), classes, logits.dtype(), targets, options);
  const Tensor x = logits.value().reshape({rows.numel(), classes});
  const bool each = options.reduction == Reduction::none;
  const Tensor losses = each ? Tensor::empty(rows, x.dtype()) : Tensor();
  const auto sums = core::cross_entropy(x, targets, options, losses);
  const double divisor = options.reduction == Reduction::mean ? sums.divisor : 1;
  const Tensor y = each ? losses : Tensor::scalar(sums.loss / divisor, x.dtype());
  return record("cross_entropy", y, {logits},
                [x, targets, options, divisor, shape = logits.shape()](const Tensor& dy, Grads& dx) {
                  const Tensor scales = dy.numel() == 1 ? Tensor::full({1}, dy.item() / divisor, dy.dtype()) : dy;
                  dx.add(0, core::cross_entropy_backward(x, targets, options, scales).reshape(shape));
                });
}

LossOutput linear_cross_entropy(const Var& x, const Var& weight, const Var& bias, const Ids& targets,
                                const CrossEntropyOptions& options) {
  const char* const op = "linear_cross_entropy";
  const Index rows = rows_of(op, x, targets).numel(), depth = x.size(-1);
  require(weight && weight.rank() == 2 && weight.size(1) == depth, "{}: the weight must be [V,{}] for {}; given {}", op,
          depth, x.shape(), weight.value());
  if (bias) require_shape(op, "the bias", bias.value(), {weight.size(0)});
  require_same_dtype(op, {x.value(), weight.value(), bias.value()});
  require(options.reduction != Reduction::none, "{}: losses are added up; given a reduction of none", op);
  core::check_cross_entropy(op, rows, weight.size(0), x.dtype(), targets, options);

  const std::initializer_list<std::reference_wrapper<const Var>> inputs = {x, weight, bias};
  core::LinearCrossEntropyGradients unit;  // gradients for a cotangent of 1
  if (recording(inputs)) {
    unit.x = Tensor::zeros({rows, depth}, x.dtype());
    unit.weight = Tensor::zeros(weight.shape(), x.dtype());
    if (bias) unit.bias = Tensor::zeros(bias.shape(), x.dtype());
  }
  const auto sums = core::linear_cross_entropy(
      {x.value().reshape({rows, depth}), weight.value(), bias.value(), targets, options}, unit);
  const double divisor = options.reduction == Reduction::mean ? sums.divisor : 1;
  Var objective = record(op, Tensor::scalar(sums.loss / divisor, x.dtype()), inputs,
                         [unit = std::move(unit), divisor](const Tensor& dy, Grads& dx) {
                           const double scale = dy.item() / divisor;
                           const Tensor* const gradients[] = {&unit.x, &unit.weight, &unit.bias};
                           for (std::size_t i = 0; i < 3; ++i)
                             if (dx.wants(i)) add_scaled(dx.into(i), scale, *gradients[i]);
                         });
  return {std::move(objective), sums.nll, sums.rows};
}

Var cross_entropy_reference(const Var& logits, const Ids& targets, const CrossEntropyOptions& options) {
  const Shape rows = rows_of("cross_entropy_reference", logits, targets);
  const Index n = rows.numel(), classes = logits.size(-1);
  const DType dtype = logits.dtype();
  const Tensor weights = options.class_weights ? options.class_weights : Tensor::full({classes}, 1, dtype);
  std::vector<std::int32_t> target(static_cast<std::size_t>(n)), real(target);
  const Tensor target_weights = Tensor::zeros({n}, dtype);
  for (Index i = 0; i < n; ++i) {
    const auto place = static_cast<std::size_t>(i);
    real[place] = targets[i] != options.ignore_index;
    target[place] = real[place] ? targets[i] : 0;
    if (real[place]) target_weights.set(i, weights.at(targets[i]));
  }
  const double e = options.label_smoothing;
  const Var lp = log_softmax(reshape(logits, Shape{n, classes}));
  const Var own = reshape(gather(lp, 1, Ids(std::move(target), {n, 1})), Shape{n}) * Var(target_weights);
  const Var spread = sum(lp * Var(weights), {1}) / static_cast<double>(classes);
  Var losses = (-(1 - e)) * own - e * spread;  // [N]
  if (options.row_weights) losses = losses * Var(options.row_weights.reshape({n}));
  losses = where(Ids(std::move(real)), losses, Var(Tensor::zeros({n}, dtype)));
  if (options.reduction == Reduction::none) return reshape(losses, rows);
  const Var total = sum(losses);
  return options.reduction == Reduction::sum ? total : total / sum(Var(target_weights)).value().item();
}

LossOutput linear_cross_entropy_reference(const Var& x, const Var& weight, const Var& bias, const Ids& targets,
                                          const CrossEntropyOptions& options) {
  const Var logits = linear(x, weight, bias);
  CrossEntropyOptions plain;
  plain.ignore_index = options.ignore_index;
  plain.reduction = Reduction::sum;
  Index count = 0;
  for (auto target : targets.values()) count += target != options.ignore_index;
  return {cross_entropy_reference(logits, targets, options),
          cross_entropy_reference(logits.detach(), targets, plain).value().item(), count};
}

}  // namespace tapestry
