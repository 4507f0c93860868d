#include "optim/clip.h"
#include "tools/adapters.h"

namespace tapestry {
namespace {

// The gradients of a case, copied: clipping works in place.
struct NamedGradients {
  std::vector<std::string> names;
  std::vector<Tensor> tensors;

  explicit NamedGradients(OracleCase& c) {
    for (const std::string& name : c.entry().inputs) {
      names.push_back(name);
      tensors.push_back(c.in(name).value().clone());
    }
  }
  Outputs outputs() const {
    Outputs outputs;
    for (std::size_t i = 0; i < names.size(); ++i) outputs.tensors[names[i]] = Var(tensors[i]);
    return outputs;
  }
};

double order_of(const OracleCase& c) {
  if (!c.given("norm_type")) return 2;
  const auto& order = c.entry().hyper["norm_type"];
  return order.is_string() ? std::stod(order.get<std::string>()) : order.get<double>();
}

Outputs clip_grad_norm(OracleCase& c) {
  const NamedGradients gradients(c);
  const double norm = total_norm(gradients.tensors, order_of(c));
  scale(gradients.tensors, clip_factor(norm, c.hyper<double>("max_norm"), 1e-6));
  Outputs outputs = gradients.outputs();
  outputs.tensors["total_norm"] = c.constant(norm);
  return outputs;
}

Outputs d2l_grad_clipping(OracleCase& c) {
  const NamedGradients gradients(c);
  scale(gradients.tensors, clip_factor(total_norm(gradients.tensors), c.hyper<double>("theta")));
  return gradients.outputs();
}

Outputs clip_grad_value(OracleCase& c) {
  const NamedGradients gradients(c);
  clip_by_value(gradients.tensors, c.hyper<double>("clip_value"));
  return gradients.outputs();
}

}  // namespace

std::vector<Adapter> clip_adapters() {
  return {{"clip_grad_norm_", "optim: total_norm, clip_factor, scale", clip_grad_norm},
          {"d2l_grad_clipping", "optim: total_norm, clip_factor, scale", d2l_grad_clipping},
          {"clip_grad_value_", "optim: clip_by_value", clip_grad_value}};
}

}  // namespace tapestry
