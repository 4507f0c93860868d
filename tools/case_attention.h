#pragma once
// The attention classes under the masks of a case.

#include "nn/transformer_layers.h"
#include "tools/case_mask.h"

namespace tapestry {

/// What multi-head attention attends from and to: q [B,Q,*], k and v [B,K,*].
struct AttentionInputs {
  Var q, k, v;

  /// Self-attention: one input for all.
  explicit AttentionInputs(const Var& x) : q(x), self(true) {}
  AttentionInputs(Var query, Var keys, Var values)
      : q(std::move(query)), k(std::move(keys)), v(std::move(values)), self(false) {}
  bool self;
};

/// `layer`, whose parameters begin with `place`, under the mask. Where the library has no such mask the same is
/// composed of plain ops, and where it attends to nothing the row of the source takes its place. Either is said in
/// what the case called. context [B,Q,D], weights [B,H,Q,K].
AttentionOutput attend(OracleCase& c, const MultiHeadAttention& layer, const std::string& place, Index heads,
                       const AttentionInputs& inputs, const CaseMask& mask);

/// The layers under any mask in the same way, without dropout.
Var encode(OracleCase& c, const EncoderLayer& layer, const std::string& place, Index heads, const Var& x,
           const CaseMask& mask);
Var decode(OracleCase& c, const DecoderLayer& layer, const std::string& place, Index heads, const Var& x,
           const Var& memory, const CaseMask& self_mask, const CaseMask& memory_mask);

}  // namespace tapestry
