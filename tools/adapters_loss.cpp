#include <algorithm>
#include <cmath>

#include "autograd/loss.h"
#include "autograd/ops.h"
#include "tools/adapters.h"
#include "tools/annotated_transformer.h"

namespace tapestry {
namespace {

Reduction reduction_of(const OracleCase& c) {
  const auto name = c.hyper("reduction", std::string("mean"));
  if (name == "mean") return Reduction::mean;
  if (name == "sum") return Reduction::sum;
  if (name == "none") return Reduction::none;
  throw NotImplemented("reduction: unknown " + name);
}

Var reduced(const Var& losses, const OracleCase& c) {
  const Reduction reduction = reduction_of(c);
  return reduction == Reduction::none ? losses : reduction == Reduction::sum ? sum(losses) : mean(losses);
}

// PyTorch has the classes on axis 1, or alone; here they come last.
Var classes_last(const Var& x) {
  std::vector<int> axes;
  for (int axis = 0; axis < x.rank(); ++axis)
    if (axis != 1) axes.push_back(axis);
  if (x.rank() > 2) axes.push_back(1);
  return x.rank() > 2 ? permute(x, axes) : x;
}

Outputs cross_entropy_of(OracleCase& c) {
  CrossEntropyOptions options;
  options.ignore_index = c.hyper("ignore_index", -100);
  options.label_smoothing = c.hyper("label_smoothing", 0.0);
  if (c.has("in.const_w")) options.class_weights = c.in("const_w").value();
  options.reduction = reduction_of(c);
  return cross_entropy(classes_last(c.in("x")), c.ids("t"), options);
}

// Soft targets: the mean is over rows, not elements.
Outputs cross_entropy_prob(OracleCase& c) {
  const Var losses = -sum(classes_last(c.in("const_p")) * log_softmax(classes_last(c.in("x"))), {-1});
  return reduced(losses, c);
}

// The input is log p already; whatever it is normalised to, -x[t] of the rows that count.
Outputs nll_loss(OracleCase& c) {
  const Var x = classes_last(c.in("x"));
  const Ids targets = c.ids("t");
  const std::int32_t ignored = c.hyper("ignore_index", -100);
  std::vector<std::int32_t> picked, skip;
  double count = 0;
  for (auto target : targets.values()) {
    skip.push_back(target == ignored ? 1 : 0);
    picked.push_back(target == ignored ? 0 : target);
    count += target == ignored ? 0 : 1;
  }
  const Shape column = targets.shape().inserted(targets.shape().rank(), 1);
  const Var taken = reshape(gather(x, -1, Ids(std::move(picked), column)), targets.shape());
  const Var losses = masked_fill(-taken, Ids(std::move(skip), targets.shape()), 0);
  const Reduction reduction = reduction_of(c);
  return reduction == Reduction::none ? losses : reduction == Reduction::sum ? sum(losses) : sum(losses) / count;
}

Outputs mse(OracleCase& c) {
  return mse_loss(c.in("x"), c.in("const_t"), reduction_of(c));
}

// -t log sigma(x) - (1 - t) log sigma(-x) = softplus(x) - t x.
Outputs bce_with_logits(OracleCase& c) {
  return reduced(softplus(c.in("x")) - c.in("const_t") * c.in("x"), c);
}

// Sum of p (log p - log softmax(x)), where 0 log 0 = 0: the entropy term is a constant.
Outputs kl_div(OracleCase& c) {
  const Var p = c.in("const_p");
  std::vector<double> values = p.value().values();
  for (double& value : values) value = value > 0 ? value * std::log(value) : 0;
  const Var entropy(Tensor::from(values, p.shape(), p.dtype()));
  const Var losses = entropy - p * log_softmax(c.in("x"));
  if (c.hyper("reduction", std::string()) == "batchmean") return sum(losses) / static_cast<double>(p.size(0));
  return reduced(losses, c);
}

// The book divides a sentence's loss by all its steps, the masked ones too.
Outputs d2l_masked_ce(OracleCase& c) {
  const Ids targets = c.ids("t"), lengths = c.ids("valid_lens", {targets.size(0)});
  CrossEntropyOptions options;
  options.reduction = Reduction::none;
  std::vector<std::int32_t> counted(targets.values().begin(), targets.values().end());
  const Index steps = targets.numel() / std::max<Index>(1, targets.size(0));
  for (Index i = 0; i < targets.numel(); ++i)
    if (i % steps >= lengths[i / steps]) counted[static_cast<std::size_t>(i)] = options.ignore_index;
  return mean(cross_entropy(c.in("x"), Ids(std::move(counted), targets.shape()), options), {1});
}

Outputs at_label_smoothing(OracleCase& c) {
  if (c.hyper("reduction", std::string("sum")) != "sum") throw NotImplemented("at_label_smoothing: only sums");
  return annotated::label_smoothing(c.in("x"), c.ids("t"), c.hyper<double>("smoothing"),
                                    c.hyper<std::int32_t>("padding_idx"));
}

// Over every other class: cross-entropy with smoothing s' = s V / (V - 1) gives the target 1 - s' + s'/V = 1 - s and
// each other class s'/V = s / (V - 1).
Outputs smoothing_v_minus_1(OracleCase& c) {
  const Var x = c.in("x");
  const double classes = static_cast<double>(x.size(-1));
  CrossEntropyOptions options;
  options.ignore_index = c.hyper("ignore_index", -100);
  options.label_smoothing = c.hyper<double>("smoothing") * classes / (classes - 1);
  options.reduction = Reduction::sum;
  const Var total = cross_entropy(x, c.ids("t"), options);
  options.reduction = Reduction::mean;
  return {{"sum", total}, {"mean", cross_entropy(x, c.ids("t"), options)}};
}

}  // namespace

std::vector<Adapter> loss_adapters() {
  return {{"cross_entropy", "tapestry::cross_entropy", cross_entropy_of},
          {"cross_entropy_prob", "composed: log_softmax, mul, sum", cross_entropy_prob},
          {"nll_loss", "composed: gather, masked_fill, sum", nll_loss},
          {"mse_loss", "tapestry::mse_loss", mse},
          {"bce_with_logits", "composed: softplus, mul, mean", bce_with_logits},
          {"kl_div", "composed: log_softmax, mul, sum", kl_div},
          {"d2l_masked_ce", "tapestry::cross_entropy", d2l_masked_ce},
          {"at_label_smoothing", "tapestry::cross_entropy, log_softmax", at_label_smoothing},
          {"smoothing_v_minus_1", "tapestry::cross_entropy", smoothing_v_minus_1}};
}

}  // namespace tapestry
