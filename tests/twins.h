#pragma once
// A fused op against its twin of plain ops: values and gradients, in both number types.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "autograd/tape.h"
#include "core/random.h"

namespace tapestry {

using Function = std::function<std::vector<Var>(const std::vector<Var>&)>;

inline Tensor random_tensor(core::Random& random, const Shape& shape, DType dtype) {
  const Tensor t = Tensor::empty(shape, dtype);
  for (Index i = 0; i < t.numel(); ++i) t.set(i, random.uniform(-1, 1));
  return t;
}

/// |a - b| <= tolerance max(1, largest |b|).
inline void check_close(const Tensor& a, const Tensor& b, double tolerance) {
  REQUIRE(a.shape() == b.shape());
  REQUIRE(a.dtype() == b.dtype());
  double largest = 1;
  for (double value : b.values()) largest = std::max(largest, std::abs(value));
  double worst = 0;
  for (Index i = 0; i < a.numel(); ++i) {
    REQUIRE(!std::isnan(a.at(i)));
    worst = std::max(worst, std::abs(a.at(i) - b.at(i)));
  }
  CHECK(worst <= tolerance * largest);
}

/// Outputs and gradients of both functions for random inputs of these shapes and random cotangents.
inline void check_twins(const std::vector<Shape>& shapes, const Function& fused, const Function& twin) {
  for (DType dtype : {DType::f64, DType::f32}) {
    CAPTURE(name(dtype));
    const double tolerance = dtype == DType::f64 ? 1e-12 : 1e-5;
    core::Random random(7);
    std::vector<Var> inputs;
    for (const Shape& shape : shapes) inputs.push_back(watch(random_tensor(random, shape, dtype)));
    std::vector<Tensor> cotangents;
    const auto run = [&](const Function& f) {
      Tape tape;
      const std::vector<Var> outputs = f(inputs);
      if (cotangents.empty())
        for (const Var& output : outputs) cotangents.push_back(random_tensor(random, output.shape(), dtype));
      const Gradients gradients = tape.backward(outputs, cotangents);
      std::vector<Tensor> all;
      for (const Var& output : outputs) all.push_back(output.value());
      for (const Var& input : inputs) all.push_back(gradients[input]);
      return all;
    };
    const auto a = run(fused), b = run(twin);
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      CAPTURE(i);  // outputs, then gradients
      check_close(a[i], b[i], tolerance);
    }
    // Inference computes the same values as training does.
    const std::vector<Var> inferred = fused(inputs);
    for (std::size_t i = 0; i < inferred.size(); ++i) CHECK(inferred[i].value().values() == a[i].values());
  }
}

}  // namespace tapestry
