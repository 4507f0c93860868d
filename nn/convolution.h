#pragma once
// Convolution along a sequence: a position hears its neighbours.

#include "autograd/convolution.h"
#include "nn/store.h"

namespace tapestry {

struct Conv1dOptions {
  bool causal = false;  // a position sees itself and what came before; else as many on both sides
  Index dilation = 1;   // how far apart the positions that a kernel sees are
  bool bias = true;
};

/// y[b,t] = bias + sum_j weight[:,:,j] x[b, t + j dilation - left], as many positions out as in: weight [out,in,k] and
/// bias [out] as torch.nn.Conv1d, and initialised as there.
struct Conv1d {
  ConvolutionPlan plan;
  Var weight, bias;
  bool reference;

  /// Errors: a kernel or a dilation below 1.
  Conv1d(const Scope& scope, Index in, Index out, Index kernel, const Conv1dOptions& options = {})
      : plan((options.causal ? ConvolutionPlan::causal : ConvolutionPlan::same)(kernel, options.dilation)),
        weight(scope.parameter("weight", {out, in, kernel}, initialise::fan_in_uniform(in * kernel))),
        bias(options.bias ? scope.parameter("bias", {out}, initialise::fan_in_uniform(in * kernel)) : Var()),
        reference(scope.reference()) {}

  /// x [B,T,in] -> [B,T,out]; with lengths [B], padding counts as zeros, and stays zeros.
  Var operator()(const Var& x, const Ids& lengths = {}) const {
    return (reference ? conv1d_reference : conv1d)(x, weight, bias, plan, lengths);
  }
};

}  // namespace tapestry
