#pragma once
// Convolution along a sequence.

#include "core/ids.h"
#include "core/tensor.h"

namespace tapestry::core {

/// Zeros before and after each sequence, and how far apart the elements that a kernel touches are.
struct ConvolutionPlan {
  Index left = 0, right = 0, dilation = 1;

  /// As many positions out as in; where the zeros are odd in number, one more on the right (as PyTorch has it).
  static ConvolutionPlan same(Index kernel, Index dilation = 1);
  /// As many positions out as in, each of which sees itself and what came before: all zeros on the left.
  static ConvolutionPlan causal(Index kernel, Index dilation = 1);
};

struct Conv1dInputs {
  Tensor x;       // [B,T,in]
  Tensor weight;  // [out,in,k]
  Tensor bias;    // [out], or absent
  ConvolutionPlan plan = {};
  Ids lengths = {};  // [B] of sequences that end earlier: what lies beyond is zeros; absent: T each

  Index batch() const { return x.size(0); }
  Index kernel() const { return weight.size(2); }
  /// Positions of the result for a sequence of `length`, which may be too short for any.
  Index positions(Index length) const;
  Index length(Index b) const { return lengths ? lengths[b] : x.size(1); }
  /// Errors name `op` and what does not fit.
  void check(const char* op) const;
};

/// y[b,t] = bias + sum_j W_j x[b, t + j dilation - left], W_j = weight[:,:,j]; x is zero outside of its sequence, and
/// so is y [B,T',out]. A product for each sequence and j, on the rows of x that it meets: nothing is laid out anew but
/// the weight.
Tensor conv1d(const Conv1dInputs& inputs);

/// Where gradients are accumulated; absent where nobody wants one.
struct Conv1dGradients {
  Tensor x, weight, bias;
};

/// Adds the gradients for the cotangent dy of y.
void conv1d_backward(const Conv1dInputs& inputs, const Tensor& dy, const Conv1dGradients& gradients);

}  // namespace tapestry::core
