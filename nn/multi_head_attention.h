#pragma once
// Several attentions side by side, each in its own projection (Vaswani et al. 2017, section 3.2.2).

#include "core/cached_attention.h"
#include "nn/attention_pooling.h"

namespace tapestry {

struct MultiHeadAttentionOptions {
  Index heads = 1;
  Index query_input = 0, key_input = 0, value_input = 0;  // widths of what is projected; 0: that of the layer
  bool bias = true;
  double dropout = 0;                                        // of the weights
  double gain = 1;                                           // of the Xavier-uniform query, key and value projections
  std::string score = "scaled-dot", normaliser = "softmax";  // of each head (nn/attention_pooling.h)
};

/// heads = softmax(q W_q (k W_k)^T / sqrt(D / H)) v W_v, concatenated, times W_o. Parameters as
/// torch.nn.MultiheadAttention: in_proj_weight [3D,D], rows for queries, keys, values in turn (or q_proj_weight,
/// k_proj_weight, v_proj_weight, where the inputs differ in width), in_proj_bias [3D], out_proj.weight, out_proj.bias.
/// With another score or normaliser each head is an AttentionPooling of width D / H, parameters heads.{h}.*.
class MultiHeadAttention {
 public:
  /// Errors: a width that the number of heads does not divide; those of AttentionPooling.
  MultiHeadAttention(const Scope& scope, Index width, const MultiHeadAttentionOptions& options);

  /// Self-attention: x [B,L,D] -> context [B,L,D]; with Mask::window(r) restricted to what is near. In the result
  /// `weights` [B,H,L,L] are those before dropout.
  AttentionOutput operator()(const Var& x, const Mask& mask, const Pass& pass, bool weights = false) const;

  /// The half of attention to a memory that does not depend on who asks. Once a sentence, not once a step.
  struct Memory {
    Projected keys, values;
  };
  Memory project(const Var& memory) const;
  Memory project(const Var& keys, const Var& values) const;  // [B,K,*] each
  /// Attention of queries [B,Q,D] to a projected memory [B,K,..]: context [B,Q,D], weights [B,H,Q,K].
  AttentionOutput operator()(const Var& queries, const Memory& memory, const Mask& mask, const Pass& pass,
                             bool weights = false) const;

  /// Self-attention of the next position, in inference: x [R,D] is added to the cache and attends to all in it. The
  /// same as the last row of the call on the whole sequence with a causal mask. weights [R,H,L]. Errors: heads of
  /// another score or normaliser than scaled-dot and softmax.
  AttentionOutput step(const Var& x, core::KeyValueCache& cache, const core::Lineage& lineage,
                       bool weights = false) const;

 private:
  AttentionOutput attend(const Projected& query, const Memory& memory, const Mask& mask, const Pass& pass,
                         bool weights) const;
  AttentionOutput pool(const Projected& query, const Memory& memory, const Mask& mask, const Pass& pass) const;
  Var project_rows(const Var& x, const RowRange& rows) const;
  Var project_part(const Var& x, Index part) const;

  Index width_, heads_;
  bool reference_;
  Dropout dropout_;
  std::vector<Var> weights_;  // one, in_proj_weight, or three
  Var bias_;
  Linear out_;
  std::vector<AttentionPooling> poolings_;  // of each head; none: the fused op serves all
};

}  // namespace tapestry
