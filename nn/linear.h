#pragma once
// Linear and Embedding: the two layers every model here has.

#include "autograd/indexing.h"
#include "autograd/matmul.h"
#include "nn/store.h"

namespace tapestry {

/// y = x W^T + b, weight [out,in] and bias [out] as torch.nn.Linear.
struct Linear {
  Var weight, bias;
  bool reference;

  /// Weights Xavier-uniform (as the book initialises its models), bias as torch.nn; `with_bias` false leaves it out.
  Linear(const Scope& scope, Index in, Index out, bool with_bias = true)
      : weight(scope.parameter("weight", {out, in}, initialise::xavier_uniform())),
        bias(with_bias ? scope.parameter("bias", {out}, initialise::fan_in_uniform(in)) : Var()),
        reference(scope.reference()) {}

  /// The same with a bias of zeros, as the Transformer's layers start.
  static Linear with_zero_bias(const Scope& scope, Index in, Index out) {
    Linear layer(scope, in, out, false);
    layer.bias = scope.parameter("bias", {out}, initialise::constant(0));
    return layer;
  }
  /// Made of parameters that are there already (weight tying).
  Linear(Var weight_, Var bias_, bool reference_)
      : weight(std::move(weight_)), bias(std::move(bias_)), reference(reference_) {}

  /// x [..,in] -> [..,out].
  Var operator()(const Var& x) const { return reference ? linear_reference(x, weight, bias) : linear(x, weight, bias); }
};

/// A table of vectors, weight [V,E], drawn from N(0, deviation^2), as torch.nn.Embedding with 1.
struct Embedding {
  Var weight;

  Embedding(const Scope& scope, Index vocabulary, Index width, double deviation = 1)
      : weight(scope.parameter("weight", {vocabulary, width}, initialise::normal(deviation))) {}
  /// The table of another layer (weight tying), known by this name as well.
  Embedding(const Scope& scope, const Var& table) : weight(table) { scope.tie("weight", table); }

  /// ids [..] -> [..,E]. Errors: an id outside of the table.
  Var operator()(const Ids& ids) const { return embedding(weight, ids); }
};

}  // namespace tapestry
