#include "optim/optimizer.h"

#include <cmath>

namespace tapestry {

void Optimizer::step(std::size_t i, const Tensor& gradient, double factor, double lr) {
  require_shape("optimizer", "the gradient", gradient, parameters_[i].shape());
  require_same_dtype("optimizer", {parameters_[i], gradient});
  move(i, gradient, factor, lr);
}

void Optimizer::step(std::span<const Tensor> gradients, double lr) {
  require(gradients.size() == parameters_.size(), "optimizer: {} gradients are needed; given {}", parameters_.size(),
          gradients.size());
  begin();
  for (std::size_t i = 0; i < gradients.size(); ++i) step(i, gradients[i], 1, lr);
}

std::vector<Tensor> Optimizer::like_parameters() const {
  std::vector<Tensor> zeros;
  for (const Tensor& parameter : parameters_) zeros.push_back(Tensor::zeros(parameter.shape(), parameter.dtype()));
  return zeros;
}

Sgd::Sgd(std::vector<Tensor> parameters, const SgdOptions& options)
    : Optimizer(std::move(parameters)), options_(options) {
  require(!options.nesterov || (options.momentum > 0 && options.dampening == 0),
          "sgd: Nesterov needs a momentum above 0 and no dampening; given {} and {}", options.momentum,
          options.dampening);
  if (options.momentum != 0) momentum_ = like_parameters();
}

void Sgd::move(std::size_t i, const Tensor& gradient, double factor, double lr) {
  dispatch(gradient.dtype(), [&]<class T> {
    const T scale = static_cast<T>(factor), decay = static_cast<T>(options_.weight_decay), rate = static_cast<T>(lr);
    const T momentum = static_cast<T>(options_.momentum);
    const T fresh = updates() == 1 ? T{1} : static_cast<T>(1 - options_.dampening);
    T* const p = parameters()[i].data<T>();
    T* const g = gradient.data<T>();
    T* const b = momentum_.empty() ? nullptr : momentum_[i].data<T>();
    for (Index k = 0, n = gradient.numel(); k < n; ++k) {
      T d = g[k] * scale + decay * p[k];
      if (b != nullptr) {
        b[k] = momentum * b[k] + fresh * d;
        d = options_.nesterov ? d + momentum * b[k] : b[k];
      }
      p[k] -= rate * d;
      g[k] = 0;
    }
  });
}

Adam::Adam(std::vector<Tensor> parameters, const AdamOptions& options)
    : Optimizer(std::move(parameters)), options_(options), first_(like_parameters()), second_(like_parameters()) {}

void Adam::move(std::size_t i, const Tensor& gradient, double factor, double lr) {
  const double t = static_cast<double>(updates());
  // lr (m / c1) / (sqrt(v / c2) + eps) = (lr / c1) m / (sqrt(v) / sqrt(c2) + eps): one division an element.
  const double c1 = 1 - std::pow(options_.beta1, t), c2 = 1 - std::pow(options_.beta2, t);
  dispatch(gradient.dtype(), [&]<class T> {
    const T scale = static_cast<T>(factor), epsilon = static_cast<T>(options_.epsilon);
    const T beta1 = static_cast<T>(options_.beta1), beta2 = static_cast<T>(options_.beta2);
    const T rest1 = static_cast<T>(1 - options_.beta1), rest2 = static_cast<T>(1 - options_.beta2);
    const T rate = static_cast<T>(lr / c1), root = static_cast<T>(1 / std::sqrt(c2));
    const T l2 = static_cast<T>(options_.decoupled ? 0 : options_.weight_decay);
    const T keep = static_cast<T>(options_.decoupled ? 1 - lr * options_.weight_decay : 1);
    T* const p = parameters()[i].data<T>();
    T* const g = gradient.data<T>();
    T* const m = first_[i].data<T>();
    T* const v = second_[i].data<T>();
    for (Index k = 0, n = gradient.numel(); k < n; ++k) {
      const T d = g[k] * scale + l2 * p[k];
      m[k] = beta1 * m[k] + rest1 * d;
      v[k] = beta2 * v[k] + rest2 * d * d;
      p[k] = p[k] * keep - rate * m[k] / (std::sqrt(v[k]) * root + epsilon);
      g[k] = 0;
    }
  });
}

}  // namespace tapestry
