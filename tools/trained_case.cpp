#include "tools/trained_case.h"

namespace tapestry {

Schedule noam(const nlohmann::json& hyper) {
  Schedule schedule;
  schedule.name = "noam";
  schedule.factor = hyper.at("factor").get<double>();
  schedule.width = hyper.at("model_size").get<Index>();
  schedule.warmup = hyper.at("warmup").get<Index>();
  return schedule;
}

Outputs trained(const OracleCase& c, const std::vector<double>& losses, const std::vector<double>& norms,
                const std::vector<double>& rates) {
  const auto vector = [&](const std::vector<double>& values) {
    return Var(Tensor::from(values, {static_cast<Index>(values.size())}, c.dtype()));
  };
  Outputs outputs{{"losses", vector(losses)}, {"grad_norms", vector(norms)}, {"lrs", vector(rates)}};
  for (const auto& [array, start] : c.file().tensors)
    if (array.starts_with("param.")) outputs.tensors["final." + array.substr(6)] = Var(c.stored(array.substr(6)));
  return outputs;
}

}  // namespace tapestry
