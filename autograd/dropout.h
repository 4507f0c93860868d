#pragma once
// Dropout (Srivastava et al. 2014), with masks that are functions of what they mask.

#include "autograd/var.h"
#include "core/dropout.h"

namespace tapestry {

using core::DropoutKey;

/// y = x * mask / (1 - p) with mask 0 or 1, 0 with probability p: each expectation stays what it was. x is a sequence
/// [B,T,F], one step of one [B,F] (position `key.first_position`), or attention weights [B,Q,K].
/// p = 0 is the identity, p = 1 gives zeros. Errors: p outside [0, 1]; another rank.
Var dropout(const Var& x, double p, const DropoutKey& key);

/// The bits that `dropout` and the ops it is fused into keep of x. Errors name `op`.
core::BitMask dropout_mask_of(const char* op, const Var& x, double p, const DropoutKey& key);

}  // namespace tapestry
