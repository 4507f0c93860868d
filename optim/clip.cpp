#include "optim/clip.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tapestry {
namespace {

// Sums of f(x) in f64 over eight lanes, so that the loop vectorises without reordering a single sum.
template <class T, class F>
double lane_sum(const T* x, Index n, F f) {
  constexpr Index lanes = 8;
  std::array<double, lanes> sums{};
  Index i = 0;
  for (; i + lanes <= n; i += lanes)
    for (Index lane = 0; lane < lanes; ++lane)
      sums[static_cast<std::size_t>(lane)] += f(static_cast<double>(x[i + lane]));
  for (; i < n; ++i) sums[0] += f(static_cast<double>(x[i]));
  double sum = 0;
  for (double s : sums) sum += s;
  return sum;
}

}  // namespace

double power_sum(const Tensor& gradient, double p) {
  return dispatch(gradient.dtype(), [&]<class T> {
    const T* const g = gradient.data<T>();
    const Index n = gradient.numel();
    if (p == 2) return lane_sum(g, n, [](double x) { return x * x; });
    if (p == 1) return lane_sum(g, n, [](double x) { return std::abs(x); });
    if (std::isfinite(p)) return lane_sum(g, n, [p](double x) { return std::pow(std::abs(x), p); });
    double largest = 0;
    for (Index i = 0; i < n; ++i) {
      const double magnitude = std::abs(static_cast<double>(g[i]));
      // A NaN must come out, where max() would lose it.
      if (!(magnitude <= largest)) largest = magnitude;
      if (std::isnan(largest)) break;
    }
    return largest;
  });
}

double total_norm(std::span<const Tensor> gradients, double p) {
  require(p > 0, "total_norm: the order of the norm must be above 0; given {}", p);
  double total = 0;
  for (const Tensor& gradient : gradients) {
    const double part = power_sum(gradient, p);
    total = std::isfinite(p) ? total + part : (part <= total ? total : part);
  }
  return p == 2 ? std::sqrt(total) : std::isfinite(p) ? std::pow(total, 1 / p) : total;
}

double clip_factor(double norm, double max_norm, double epsilon) {
  require(max_norm > 0, "clip: the largest norm must be above 0; given {}", max_norm);
  return std::min(1.0, max_norm / (norm + epsilon));
}

void scale(std::span<const Tensor> gradients, double factor) {
  for (const Tensor& gradient : gradients)
    dispatch(gradient.dtype(), [&]<class T> {
      T* const g = gradient.data<T>();
      for (Index i = 0, n = gradient.numel(); i < n; ++i) g[i] *= static_cast<T>(factor);
    });
}

void clip_by_value(std::span<const Tensor> gradients, double limit) {
  require(limit >= 0, "clip_by_value: the limit must not be negative; given {}", limit);
  for (const Tensor& gradient : gradients)
    dispatch(gradient.dtype(), [&]<class T> {
      T* const g = gradient.data<T>();
      const T bound = static_cast<T>(limit);
      for (Index i = 0, n = gradient.numel(); i < n; ++i) g[i] = std::min(std::max(g[i], -bound), bound);
    });
}

double gather(std::span<const Tensor> shards, double divisor) {
  const Tensor& sum = shards[0];
  return dispatch(sum.dtype(), [&]<class T> {
    T* const total = sum.data<T>();
    const Index n = sum.numel();
    for (std::size_t s = 1; s < shards.size(); ++s) {
      require_shape("gather", "a shard's gradient", shards[s], sum.shape());
      T* const g = shards[s].data<T>();
      for (Index i = 0; i < n; ++i) {
        total[i] += g[i];
        g[i] = 0;
      }
    }
    const T share = static_cast<T>(1 / divisor);
    for (Index i = 0; i < n; ++i) total[i] *= share;
    return lane_sum(total, n, [](double x) { return x * x; });
  });
}

}  // namespace tapestry
