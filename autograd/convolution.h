#pragma once
// Convolution along a sequence as a single op.

#include "autograd/var.h"
#include "core/convolution.h"

namespace tapestry {

using core::ConvolutionPlan;

/// Cross-correlation along the positions of x [B,T,in] with weight [out,in,k], as torch.nn.functional.conv1d with the
/// two last axes of x exchanged; bias [out] may be absent:
///
///   y[b,t] = bias + sum_j weight[:,:,j] x[b, t + j dilation - left]
///   y [B,T',out], T' = T + left + right - (k-1) dilation, or 0 if that is less, or T is 0
///
/// x counts as zeros outside of its sequence; with lengths [B] a sequence ends there, and y is zero beyond it. Errors:
/// shapes that do not fit; a dilation below 1; more zeros than the kernel reaches.
Var conv1d(const Var& x, const Var& weight, const Var& bias, const ConvolutionPlan& plan = {}, const Ids& lengths = {});

/// The same from plain ops.
Var conv1d_reference(const Var& x, const Var& weight, const Var& bias, const ConvolutionPlan& plan = {},
                     const Ids& lengths = {});

}  // namespace tapestry
