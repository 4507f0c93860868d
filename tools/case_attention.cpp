#include "tools/case_attention.h"

#include <cmath>

#include "autograd/ops.h"

namespace tapestry {
namespace {

// One of the three projections: a weight, the bias if there is one, and the rows of both (of the bias, if the weight
// stands alone).
class Projection {
 public:
  Projection(const ParameterStore& store, const std::string& place, Index part) {
    static constexpr const char* apart[] = {"q_proj_weight", "k_proj_weight", "v_proj_weight"};
    for (const Var& parameter : store.parameters()) {
      const std::string& name = parameter.leaf()->name;
      if (name == place + "in_proj_weight" || name == place + apart[part]) weight_ = parameter;
      if (name == place + "in_proj_bias") bias_ = parameter;
      if (name == place + "in_proj_weight") joint_ = true;
    }
    width_ = weight_.size(0) / (joint_ ? 3 : 1);
    part_ = part;
  }
  Var operator()(const Var& x) const {
    const RowRange rows{part_ * width_, (part_ + 1) * width_};
    if (joint_) return linear(x, weight_, bias_, rows);
    return linear(x, weight_, bias_ ? slice(bias_, 0, rows.begin, rows.end) : Var());
  }

 private:
  Var weight_, bias_;
  bool joint_ = false;
  Index width_, part_;
};

Var output_projection(const ParameterStore& store, const std::string& place, const Var& context) {
  Var weight, bias;
  for (const Var& parameter : store.parameters()) {
    if (parameter.leaf()->name == place + "out_proj.weight") weight = parameter;
    if (parameter.leaf()->name == place + "out_proj.bias") bias = parameter;
  }
  return linear(context, weight, bias);
}

AttentionOutput composed(const ParameterStore& store, const std::string& place, Index heads, const Var& q, const Var& k,
                         const Var& v, const CaseMask& mask) {
  const auto by_head = [&](const Var& x, Index part) {
    const Var projected = Projection(store, place, part)(x);  // [B,L,D]
    return permute(reshape(projected, {x.size(0), x.size(1), heads, -1}), {0, 2, 1, 3});
  };
  const Var queries = by_head(q, 0);
  const Var scores = matmul(queries, transpose(by_head(k, 1), -1, -2));  // [B,H,Q,K]
  const Var weights = softmax(mask.applied(scores / std::sqrt(static_cast<double>(queries.size(-1)))));
  const Var context = permute(matmul(weights, by_head(v, 2)), {0, 2, 1, 3});  // [B,Q,H,D/H]
  return {output_projection(store, place, reshape(context, {q.size(0), q.size(1), -1})), weights};
}

constexpr const char* composed_names = "composed: linear, matmul, masked_fill, softmax";

// Whether a layer can be called as it is: its own attentions know no other masks, and no rows of another source.
bool plain(const CaseMask& mask) {
  return mask.library() && !mask.empty_rows();
}

}  // namespace

AttentionOutput attend(OracleCase& c, const MultiHeadAttention& layer, const std::string& place, Index heads,
                       const AttentionInputs& inputs, const CaseMask& mask) {
  const Var &q = inputs.q, &k = inputs.self ? q : inputs.k, &v = inputs.self ? q : inputs.v;
  const auto library = mask.library();
  if (!library) {
    c.say_called(composed_names);
    return composed(c.store(), place, heads, q, k, v, mask);
  }
  AttentionOutput output =
      inputs.self ? layer(q, *library, Pass(), true) : layer(q, layer.project(k, v), *library, Pass(), true);
  if (const Ids empty = mask.empty_rows()) {
    // Even weights: the mean of the projected values, which is the projected mean.
    const Var even(Tensor::scalar(1 / static_cast<double>(k.size(1)), c.dtype()));
    const Ids of_heads({empty.values().begin(), empty.values().end()}, {q.size(0), 1, q.size(1), 1});
    const Var mean_value = Projection(c.store(), place, 2)(mean(v, {1}, true));
    output.context = where(empty, output_projection(c.store(), place, mean_value), output.context);
    output.weights = where(of_heads, even, output.weights);
    c.say_called("nn: MultiHeadAttention; rows without keys composed: mean, linear, where");
  }
  return output;
}

Var encode(OracleCase& c, const EncoderLayer& layer, const std::string& place, Index heads, const Var& x,
           const CaseMask& mask) {
  if (plain(mask)) return layer(x, *mask.library(), Pass());
  const Var attended = layer.residual1(x, Pass(), [&](const Var& y) {
    return attend(c, layer.self_attention, place + "self_attn.", heads, AttentionInputs(y), mask).context;
  });
  c.say_called(std::string("nn: Residual, FeedForward; attention ") + composed_names);
  return layer.residual2(attended, Pass(), [&](const Var& y) { return layer.feed_forward(y, Pass()); });
}

Var decode(OracleCase& c, const DecoderLayer& layer, const std::string& place, Index heads, const Var& x,
           const Var& memory, const CaseMask& self_mask, const CaseMask& memory_mask) {
  if (plain(self_mask) && plain(memory_mask))
    return layer(x, layer.cross_attention.project(memory), *self_mask.library(), *memory_mask.library(), Pass());
  const Var said = layer.residual1(x, Pass(), [&](const Var& y) {
    return attend(c, layer.self_attention, place + "self_attn.", heads, AttentionInputs(y), self_mask).context;
  });
  const Var read = layer.residual2(said, Pass(), [&](const Var& y) {
    return attend(c, layer.cross_attention, place + "multihead_attn.", heads, {y, memory, memory}, memory_mask).context;
  });
  c.say_called(std::string("nn: Residual, FeedForward; attention ") + composed_names);
  return layer.residual3(read, Pass(), [&](const Var& y) { return layer.feed_forward(y, Pass()); });
}

}  // namespace tapestry
