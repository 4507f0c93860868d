#include "autograd/reduce.h"

#include "autograd/record.h"
#include "core/elementwise.h"
#include "core/views.h"

namespace tapestry {
namespace {

// Kernels keep the reduced axes; here they go, unless they are wanted. `kept` is what gradients are broadcast from.
Tensor dropped(const char* op, const Tensor& kept, const Shape& x, const Axes& axes, bool keepdims) {
  return kept.reshape(core::reduced(op, x, axes, keepdims));
}

}  // namespace

/// y = sum_i x_i                         dx_i = dy
Var sum(const Var& x, const Axes& axes, bool keepdims) {
  const Tensor kept = core::sum(x.value(), axes);
  return record("sum", dropped("sum", kept, x.shape(), axes, keepdims), {x},
                [kept = kept.shape(), shape = x.shape()](const Tensor& dy, Grads& dx) {
                  dx.add(0, core::broadcast_to("sum", dy.reshape(kept), shape));
                });
}

/// y = 1/n sum_i x_i                     dx_i = dy / n
Var mean(const Var& x, const Axes& axes, bool keepdims) {
  const double share = 1.0 / static_cast<double>(core::reduced_count(x.shape(), axes));
  const auto divide = [share](auto u) { return u * share; };
  const Tensor kept = core::map(divide, core::sum(x.value(), axes));
  return record("mean", dropped("mean", kept, x.shape(), axes, keepdims), {x},
                [kept = kept.shape(), shape = x.shape(), divide](const Tensor& dy, Grads& dx) {
                  dx.add(0, core::broadcast_to("mean", core::map(divide, dy).reshape(kept), shape));
                });
}

namespace {

/// y = x_i for the i that wins           dx_i = dy / ties where x_i = y, else 0
Var extreme_of(const char* op, const Var& x, const Axes& axes, bool keepdims, const Tensor& kept) {
  return record(op, dropped(op, kept, x.shape(), axes, keepdims), {x},
                [op, axes, x = x.value(), kept](const Tensor& dy, Grads& dx) {
                  const auto is_best = [](auto u, auto v) { return select(u == v, decltype(u)(1), decltype(u)(0)); };
                  const Tensor best = core::map(op, is_best, x, kept);
                  const Tensor ties = core::sum(best, axes);
                  const auto share = [](auto b, auto g, auto n) { return b * g / n; };
                  dx.add(0, core::map(op, share, best, dy.reshape(kept.shape()), ties));
                });
}

}  // namespace

Var max(const Var& x, const Axes& axes, bool keepdims) {
  return extreme_of("max", x, axes, keepdims, core::max("max", x.value(), axes));
}

Var min(const Var& x, const Axes& axes, bool keepdims) {
  return extreme_of("min", x, axes, keepdims, core::min("min", x.value(), axes));
}

/// y = 1/d sum_i c_i^2, c_i = x_i - mean, d = n - 1 or n         dx_i = 2/d dy c_i
/// (the part through the mean is -2/(d n) dy sum_i c_i, and the c_i sum to zero)
Var variance(const Var& x, const Axes& axes, bool unbiased, bool keepdims) {
  const auto n = static_cast<double>(core::reduced_count(x.shape(), axes));
  const double divisor = unbiased ? n - 1 : n;
  require(divisor > 0, "variance: at least {} elements are needed; given {}", unbiased ? 2 : 1, n);
  const Tensor mean = core::map([n](auto s) { return s / n; }, core::sum(x.value(), axes));
  const Tensor centred = core::map(
      "variance", [](auto u, auto m) { return u - m; }, x.value(), mean);
  const Tensor squares = core::sum(core::map([](auto c) { return c * c; }, centred), axes);
  const Tensor kept = core::map([divisor](auto s) { return s / divisor; }, squares);
  return record("variance", dropped("variance", kept, x.shape(), axes, keepdims), {x},
                [centred, kept = kept.shape(), divisor](const Tensor& dy, Grads& dx) {
                  const auto slope = [divisor](auto g, auto c) { return g * c * (2 / divisor); };
                  dx.add(0, core::map("variance", slope, dy.reshape(kept), centred));
                });
}

/// y = m + log sum_i e^(x_i - m), m = max x                       dx_i = dy e^(x_i - y)
Var logsumexp(const Var& x, const Axes& axes, bool keepdims) {
  // Where x is -infinity throughout, m = 0 gives log 0; the difference of two infinities would be NaN.
  const auto finite = [](auto m) { return select(abs(m) == INFINITY, decltype(m)(0), m); };
  const Tensor m = core::map(finite, core::max("logsumexp", x.value(), axes));
  const auto shifted = [](auto u, auto v) { return exp(u - v); };
  const Tensor total = core::sum(core::map("logsumexp", shifted, x.value(), m), axes);
  const Tensor kept = core::map(
      "logsumexp", [](auto s, auto v) { return v + log(s); }, total, m);
  return record("logsumexp", dropped("logsumexp", kept, x.shape(), axes, keepdims), {x},
                [x = x.value(), kept](const Tensor& dy, Grads& dx) {
                  const auto slope = [](auto g, auto u, auto v) {
                    return g * exp(u - select(v == -INFINITY, decltype(v)(0), v));
                  };
                  dx.add(0, core::map("logsumexp", slope, dy.reshape(kept.shape()), x, kept));
                });
}

}  // namespace tapestry
