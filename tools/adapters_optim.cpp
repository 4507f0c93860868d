#include <cmath>
#include <memory>

#include "autograd/ops.h"
#include "optim/optimizer.h"
#include "tools/adapters.h"
#include "tools/trained_case.h"

namespace tapestry {
namespace {

// The two optimisers that no model of the course needs, from plain ops.

// v += g^2;  p -= lr g / (sqrt(v) + epsilon). Duchi et al. 2011.
class Adagrad : public Optimizer {
 public:
  Adagrad(std::vector<Tensor> parameters, const OracleCase& c)
      : Optimizer(std::move(parameters)),
        epsilon_(c.hyper<double>("eps")),
        decay_(c.hyper("weight_decay", 0.0)),
        rate_decay_(c.hyper("lr_decay", 0.0)),
        squares_(like_parameters()) {
    for (const Tensor& v : squares_) v.fill(c.hyper("initial_accumulator_value", 0.0));
  }
  std::vector<std::pair<std::string, std::vector<Tensor>>> state() const override { return {{"squares", squares_}}; }

 private:
  void move(std::size_t i, const Tensor& gradient, double factor, double lr) override {
    const Var p(parameters()[i]), g = Var(gradient) * factor + decay_ * p;
    squares_[i] = (Var(squares_[i]) + square(g)).value();
    const double rate = lr / (1 + static_cast<double>(updates() - 1) * rate_decay_);
    parameters()[i].copy_from((p - rate * g / (sqrt(Var(squares_[i])) + epsilon_)).value());
  }
  double epsilon_, decay_, rate_decay_;
  std::vector<Tensor> squares_;
};

// v = a v + (1 - a) g^2;  u = g / (sqrt(v) + epsilon);  b = momentum b + u;  p -= lr b. Hinton 2012, lecture 6e.
// Centred, the square of the running mean of g is taken from v.
class RmsProp : public Optimizer {
 public:
  RmsProp(std::vector<Tensor> parameters, const OracleCase& c)
      : Optimizer(std::move(parameters)),
        alpha_(c.hyper<double>("alpha")),
        epsilon_(c.hyper<double>("eps")),
        momentum_(c.hyper("momentum", 0.0)),
        decay_(c.hyper("weight_decay", 0.0)),
        centered_(c.hyper("centered", false)),
        squares_(like_parameters()),
        means_(like_parameters()),
        steps_(like_parameters()) {}
  std::vector<std::pair<std::string, std::vector<Tensor>>> state() const override { return {{"squares", squares_}}; }

 private:
  void move(std::size_t i, const Tensor& gradient, double factor, double lr) override {
    const Var p(parameters()[i]), g = Var(gradient) * factor + decay_ * p;
    squares_[i] = (alpha_ * Var(squares_[i]) + (1 - alpha_) * square(g)).value();
    means_[i] = (alpha_ * Var(means_[i]) + (1 - alpha_) * g).value();
    const Var spread = centered_ ? Var(squares_[i]) - square(Var(means_[i])) : Var(squares_[i]);
    steps_[i] = (momentum_ * Var(steps_[i]) + g / (sqrt(spread) + epsilon_)).value();
    parameters()[i].copy_from((p - lr * Var(steps_[i])).value());
  }
  double alpha_, epsilon_, momentum_, decay_;
  bool centered_;
  std::vector<Tensor> squares_, means_, steps_;
};

std::unique_ptr<Optimizer> make_optimizer(const OracleCase& c, std::vector<Tensor> parameters, double weight_decay) {
  const std::string& op = c.entry().op;
  if (c.hyper("amsgrad", false)) throw NotImplemented("adam: AMSGrad");
  if (c.hyper("maximize", false)) throw NotImplemented("optimizer: maximisation");
  if (op.starts_with("adagrad")) return std::make_unique<Adagrad>(std::move(parameters), c);
  if (op.starts_with("rmsprop")) return std::make_unique<RmsProp>(std::move(parameters), c);
  if (op.starts_with("sgd"))
    return std::make_unique<Sgd>(std::move(parameters), SgdOptions{c.hyper("momentum", 0.0), c.hyper("dampening", 0.0),
                                                                   c.hyper("nesterov", false), weight_decay});
  const auto betas = c.hyper("betas", std::vector{0.9, 0.999});
  return std::make_unique<Adam>(std::move(parameters), AdamOptions{betas.at(0), betas.at(1), c.hyper("eps", 1e-8),
                                                                   weight_decay, op.starts_with("adamw")});
}

// Parameters that are moved by one optimiser at one rate.
struct Group {
  std::vector<std::string> names;
  std::unique_ptr<Optimizer> optimizer;
  double lr;
};

std::vector<Group> groups_of(const OracleCase& c, const std::map<std::string, Tensor>& parameters) {
  std::vector<Group> groups;
  const auto add = [&](const std::vector<std::string>& names, double lr, double weight_decay) {
    std::vector<Tensor> tensors;
    for (const std::string& name : names) tensors.push_back(parameters.at(name));
    groups.push_back({names, make_optimizer(c, std::move(tensors), weight_decay), lr});
  };
  if (c.given("groups")) {
    for (const auto& [name, group] : c.entry().hyper["groups"].items())
      add({name}, group.at("lr").get<double>(), group.at("weight_decay").get<double>());
  } else {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : parameters) names.push_back(name);
    const double fallback = c.entry().op.starts_with("adamw") ? 0.01 : 0;  // PyTorch's
    add(names, c.hyper("lr", 1.0), c.hyper("weight_decay", fallback));
  }
  return groups;
}

Outputs rates(OracleCase& c) {
  const Schedule schedule = noam(c.entry().hyper);
  std::vector<double> result;
  for (std::int32_t step : c.ids("step").values()) result.push_back(schedule.rate(step));
  return {{"lr", Var(Tensor::from(result, c.ids("step").shape(), c.dtype()))}};
}

// L(w,M) = (w-c)'A(w-c) / 2 + 0.3 sum(sin(w)) + sum((M u - t)^2) + 0.1 sum(M^4) + 0.2 sum(w) sum(M)
Var problem(OracleCase& c, const Var& w, const Var& m) {
  const Var d = w - c.in("c");
  return 0.5 * matmul(d, matmul(c.in("A"), d)) + 0.3 * sum(sin(w)) + sum(square(matmul(m, c.in("u")) - c.in("t"))) +
         0.1 * sum(pow(m, 4)) + 0.2 * sum(w) * sum(m);
}

// The gradients of step i: as given, or of the problem, whose value is then added to `losses`.
std::map<std::string, Tensor> gradients_at(OracleCase& c, Index i, const std::map<std::string, Tensor>& parameters,
                                           std::vector<double>& losses) {
  std::map<std::string, Tensor> gradients;
  if (!c.has("in.A")) {
    for (const auto& [name, tensor] : parameters)
      gradients[name] = c.file().tensors.at("out.grad." + name).rows(i, i + 1).reshape(tensor.shape()).clone();
    return gradients;
  }
  const Var w = watch(parameters.at("w"), "w"), m = watch(parameters.at("M"), "M");
  Tape tape;
  const Var loss = problem(c, w, m);
  losses.push_back(loss.value().item());
  const Gradients found = tape.backward(loss);
  return {{"w", found[w]}, {"M", found[m]}};
}

Outputs trajectory(OracleCase& c) {
  std::map<std::string, Tensor> parameters;
  for (const auto& [array, tensor] : c.file().tensors)
    if (array.starts_with("param.")) parameters[array.substr(6)] = tensor.clone();
  const std::vector<Group> groups = groups_of(c, parameters);

  std::map<std::string, std::vector<Var>> path, slopes;
  std::vector<double> losses, rates;
  for (const auto& [name, tensor] : parameters) path[name].push_back(Var(tensor.clone()));
  for (Index i = 0; i < c.hyper<Index>("steps"); ++i) {
    const auto gradients = gradients_at(c, i, parameters, losses);
    for (const auto& [name, gradient] : gradients) slopes[name].push_back(Var(gradient.clone()));
    for (const Group& group : groups) {
      std::vector<Tensor> mine;
      for (const std::string& name : group.names) mine.push_back(gradients.at(name));
      const double lr = c.given("noam") ? noam(c.entry().hyper["noam"]).rate(i) : group.lr;
      // The group that `lrs` means is that of w.
      if (group.names.size() > 1 || group.names[0] == "w") rates.push_back(lr);
      group.optimizer->step(mine, lr);
    }
    for (const auto& [name, tensor] : parameters) path[name].push_back(Var(tensor.clone()));
  }

  Outputs outputs;
  for (const auto& [name, values] : path) outputs.tensors["traj." + name] = stack(values, 0);
  for (const auto& [name, values] : slopes) outputs.tensors["grad." + name] = stack(values, 0);
  const auto vector = [&](const std::vector<double>& values) {
    return Var(Tensor::from(values, {static_cast<Index>(values.size())}, c.dtype()));
  };
  if (!losses.empty()) outputs.tensors["losses"] = vector(losses);
  outputs.tensors["lrs"] = vector(rates);
  return outputs;
}

}  // namespace

std::vector<Adapter> optim_adapters() {
  return {{"sgd*", "optim: Sgd", trajectory},
          {"adam*", "optim: Adam", trajectory},
          {"adamw*", "optim: Adam (decoupled)", trajectory},
          {"adagrad*", "composed: square, sqrt, div", trajectory},
          {"rmsprop*", "composed: square, sqrt, div", trajectory},
          {"noam", "optim: Schedule", rates}};
}

}  // namespace tapestry
