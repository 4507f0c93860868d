#pragma once
// Golden values: cases of tests/golden/*.json, computed by PyTorch (tools/make_golden.py), against ours.

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "autograd/tape.h"
#include "core/ids.h"

namespace tapestry {

/// Our op from a case's inputs and attributes to its outputs.
using GoldenOp = std::function<std::vector<Var>(const std::vector<Var>& inputs, const nlohmann::json& attributes)>;

inline Shape golden_shape(const nlohmann::json& sizes) {
  return Shape(sizes.get<std::vector<Index>>());
}

inline Tensor golden_tensor(const nlohmann::json& tensor, DType dtype = DType::f64) {
  return Tensor::from(tensor.at("values").get<std::vector<double>>(), golden_shape(tensor.at("shape")), dtype);
}

inline Ids golden_ids(const nlohmann::json& ids) {
  return Ids(ids.at("values").get<std::vector<std::int32_t>>(), golden_shape(ids.at("shape")));
}

/// |ours - golden| <= tolerance max(1, |golden|) for every element.
inline void check_golden_tensor(const Tensor& ours, const nlohmann::json& golden, double tolerance) {
  REQUIRE(ours.shape() == golden_shape(golden.at("shape")));
  const auto wanted = golden.at("values").get<std::vector<double>>();
  for (Index i = 0; i < ours.numel(); ++i) {
    const double value = wanted[static_cast<std::size_t>(i)];
    if (!(std::abs(ours.at(i) - value) <= tolerance * std::max(1.0, std::abs(value))))
      FAIL_CHECK("element " << i << " is " << ours.at(i) << ", golden " << value);
  }
}

/// Outputs and gradients by the inputs of one case; returns the gradients of all. Errors of the comparison are doctest
/// failures that name the case.
inline Gradients check_golden_case(const nlohmann::json& golden, const GoldenOp& op, DType dtype, double tolerance) {
  std::vector<Var> inputs;
  for (const auto& input : golden.at("inputs")) inputs.push_back(watch(golden_tensor(input, dtype)));
  Tape tape;
  const std::vector<Var> outputs = op(inputs, golden.at("attributes"));
  REQUIRE(outputs.size() == golden.at("outputs").size());
  std::vector<Tensor> cotangents;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    INFO("output " << o);
    check_golden_tensor(outputs[o].value(), golden.at("outputs")[o], tolerance);
    cotangents.push_back(golden_tensor(golden.at("cotangents")[o], dtype));
  }
  const Gradients gradients = tape.backward(outputs, cotangents);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    INFO("gradient of input " << i);
    check_golden_tensor(gradients[inputs[i]], golden.at("gradients")[i], tolerance);
  }
  return gradients;
}

}  // namespace tapestry
