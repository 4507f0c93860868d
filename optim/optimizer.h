#pragma once
// Optimisers: what one update does to the parameters, given their gradients.

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/tensor.h"

namespace tapestry {

/// Works on flat pieces (a store's `pieces()`, or any tensors), so that workers may take pieces in any order: begin the
/// update once, then step every piece once.
class Optimizer {
 public:
  explicit Optimizer(std::vector<Tensor> parameters) : parameters_(std::move(parameters)) {}
  virtual ~Optimizer() = default;

  /// Counts the update, on one thread.
  void begin() { ++updates_; }
  /// Moves piece `i` by its gradient times `factor` (that of clipping) at the rate `lr`, and zeroes the gradient.
  void step(std::size_t i, const Tensor& gradient, double factor, double lr);
  /// One whole update. Errors: another number of gradients, or a shape that differs.
  void step(std::span<const Tensor> gradients, double lr);

  std::span<const Tensor> parameters() const { return parameters_; }
  Index updates() const { return updates_; }
  /// What a checkpoint must hold besides the parameters: the moments of each piece, by name, and the count.
  virtual std::vector<std::pair<std::string, std::vector<Tensor>>> state() const = 0;
  void set_updates(Index updates) { updates_ = updates; }

 protected:
  virtual void move(std::size_t i, const Tensor& gradient, double factor, double lr) = 0;
  std::vector<Tensor> like_parameters() const;  // zeros

 private:
  std::vector<Tensor> parameters_;
  Index updates_ = 0;
};

struct SgdOptions {
  double momentum = 0;
  double dampening = 0;
  bool nesterov = false;
  double weight_decay = 0;  // L2, added to the gradient
};

/// g' = g + weight_decay p;  b = momentum b + (1 - dampening) g' (b = g' at the first update);
/// p -= lr b, or with Nesterov p -= lr (g' + momentum b). As torch.optim.SGD.
class Sgd : public Optimizer {
 public:
  Sgd(std::vector<Tensor> parameters, const SgdOptions& options);
  std::vector<std::pair<std::string, std::vector<Tensor>>> state() const override { return {{"momentum", momentum_}}; }

 private:
  void move(std::size_t i, const Tensor& gradient, double factor, double lr) override;
  SgdOptions options_;
  std::vector<Tensor> momentum_;
};

struct AdamOptions {
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;  // L2, added to the gradient; with `decoupled` applied to the parameter instead (AdamW)
  bool decoupled = false;
};

/// m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2;
/// p -= lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon).
/// Kingma and Ba 2015, algorithm 1; AdamW first scales p by 1 - lr weight_decay (Loshchilov and Hutter 2019).
class Adam : public Optimizer {
 public:
  Adam(std::vector<Tensor> parameters, const AdamOptions& options = {});
  std::vector<std::pair<std::string, std::vector<Tensor>>> state() const override {
    return {{"first_moment", first_}, {"second_moment", second_}};
  }

 private:
  void move(std::size_t i, const Tensor& gradient, double factor, double lr) override;
  AdamOptions options_;
  std::vector<Tensor> first_, second_;
};

}  // namespace tapestry
