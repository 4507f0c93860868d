#include "tools/parameter_names.h"

namespace tapestry {

Tensor ParameterPlace::rows_of(const Tensor& parameter_or_gradient) const {
  if (third < 0) return parameter_or_gradient;
  const Index rows = parameter_or_gradient.size(0) / 3;
  return parameter_or_gradient.rows(third * rows, (third + 1) * rows);
}

ParameterPlace place_of(std::string name, NameRules rules) {
  int third = -1;
  for (const NameRule& rule : rules) {
    const std::size_t at = name.find(rule.theirs);
    if (at == std::string::npos) continue;
    name.replace(at, rule.theirs.size(), rule.ours);
    if (rule.third >= 0) third = rule.third;
  }
  return {std::move(name), third};
}

NameRules book_names(bool widths_differ) {
  static constexpr NameRule joint[] = {{"encoder.blks.block", "transformer.encoder.layers."},
                                       {"decoder.blks.block", "transformer.decoder.layers."},
                                       {"encoder.embedding", "src_embed"},
                                       {"decoder.embedding", "tgt_embed"},
                                       {"decoder.dense", "out"},
                                       {"attention.", "self_attn."},
                                       {"attention1.", "self_attn."},
                                       {"attention2.", "multihead_attn."},
                                       {"ffn.dense1", "linear1"},
                                       {"ffn.dense2", "linear2"},
                                       {"addnorm1.ln", "norm1"},
                                       {"addnorm2.ln", "norm2"},
                                       {"addnorm3.ln", "norm3"},
                                       {"W_q.", "in_proj_", 0},
                                       {"W_k.", "in_proj_", 1},
                                       {"W_v.", "in_proj_", 2},
                                       {"W_o.", "out_proj."}};
  static constexpr NameRule apart[] = {{"W_q.weight", "q_proj_weight"},
                                       {"W_k.weight", "k_proj_weight"},
                                       {"W_v.weight", "v_proj_weight"},
                                       {"W_q.bias", "in_proj_bias", 0},
                                       {"W_k.bias", "in_proj_bias", 1},
                                       {"W_v.bias", "in_proj_bias", 2},
                                       {"W_o.", "out_proj."}};
  return widths_differ ? NameRules(apart) : NameRules(joint);
}

NameRules annotated_names() {
  static constexpr NameRule names[] = {{"linears.0.", "in_proj_", 0},
                                       {"linears.1.", "in_proj_", 1},
                                       {"linears.2.", "in_proj_", 2},
                                       {"linears.3.", "out_proj."},
                                       {"w_1", "linear1"},
                                       {"w_2", "linear2"}};
  return names;
}

}  // namespace tapestry
