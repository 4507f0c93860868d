#include "nn/multi_head_attention.h"

#include "autograd/shape_ops.h"
#include "core/views.h"

namespace tapestry {
namespace {

std::vector<Var> projections(const Scope& scope, Index width, const MultiHeadAttentionOptions& options) {
  const auto input = [&](Index given) { return given > 0 ? given : width; };
  const Index q = input(options.query_input), k = input(options.key_input), v = input(options.value_input);
  if (q == width && k == width && v == width)
    return {scope.parameter("in_proj_weight", {3 * width, width}, initialise::stacked_xavier_uniform(3, options.gain))};
  const auto part = [&](const char* name, Index in) {
    return scope.parameter(name, {width, in}, initialise::xavier_uniform(options.gain));
  };
  return {part("q_proj_weight", q), part("k_proj_weight", k), part("v_proj_weight", v)};
}

Linear output_projection(const Scope& scope, Index width, bool bias) {
  return bias ? Linear::with_zero_bias(scope, width, width) : Linear(scope, width, width, false);
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(const Scope& scope, Index width, const MultiHeadAttentionOptions& options)
    : width_(width),
      heads_(options.heads),
      reference_(scope.reference()),
      dropout_(scope / "dropout", options.dropout),
      weights_(projections(scope, width, options)),
      bias_(options.bias ? scope.parameter("in_proj_bias", {3 * width}, initialise::constant(0)) : Var()),
      out_(output_projection(scope / "out_proj", width, options.bias)) {
  require(heads_ >= 1 && width % heads_ == 0, "multi_head_attention: the heads must divide the width; given {} and {}",
          heads_, width);
  if (options.score == "scaled-dot" && options.normaliser == "softmax") return;
  const Index head = width / heads_;
  for (Index h = 0; h < heads_; ++h)
    poolings_.emplace_back(scope / "heads" / std::to_string(h), head, head,
                           PoolingOptions{options.score, options.normaliser, head, options.dropout});
}

// Some of queries, keys and values, which stand side by side.
Var MultiHeadAttention::project_rows(const Var& x, const RowRange& rows) const {
  return (reference_ ? linear_reference : linear)(x, weights_[0], bias_, rows);
}

// Queries (part 0), keys (1) or values (2).
Var MultiHeadAttention::project_part(const Var& x, Index part) const {
  const RowRange rows{part * width_, (part + 1) * width_};
  if (weights_.size() == 1) return project_rows(x, rows);
  const Var bias = bias_ ? slice(bias_, 0, rows.begin, rows.end) : Var();
  return (reference_ ? linear_reference : linear)(x, weights_[static_cast<std::size_t>(part)], bias, {});
}

// Each head by itself: context [B,Q,D], weights [B,H,Q,K].
AttentionOutput MultiHeadAttention::pool(const Projected& query, const Memory& memory, const Mask& mask,
                                         const Pass& pass) const {
  std::vector<Var> contexts, weights;
  for (std::size_t h = 0; h < poolings_.size(); ++h) {
    const Index width = width_ / heads_;
    const auto columns = [&](const Projected& from) {
      const Index begin = from.column + static_cast<Index>(h) * width;
      return slice(from.x, 2, begin, begin + width);
    };
    const AttentionPooling& head = poolings_[h];
    const AttentionOutput output =
        head(columns(query), head.project(columns(memory.keys)), columns(memory.values), mask, pass);
    contexts.push_back(output.context);
    weights.push_back(output.weights);
  }
  return {concat(contexts, 2), stack(weights, 1)};
}

AttentionOutput MultiHeadAttention::attend(const Projected& query, const Memory& memory, const Mask& mask,
                                           const Pass& pass, bool weights) const {
  if (!poolings_.empty()) {
    const AttentionOutput output = pool(query, memory, mask, pass);
    return {out_(output.context), weights ? output.weights : Var()};
  }
  const auto attention = reference_ ? scaled_dot_product_attention_reference : scaled_dot_product_attention;
  const AttentionOutput output =
      attention(query, memory.keys, memory.values,
                {heads_, width_ / heads_, 0, mask, dropout_.rate(pass), dropout_.key(pass), weights});
  return {out_(output.context), output.weights};
}

AttentionOutput MultiHeadAttention::operator()(const Var& x, const Mask& mask, const Pass& pass, bool weights) const {
  if (weights_.size() > 1) return (*this)(x, project(x), mask, pass, weights);
  const Var all = project_rows(x, {});  // [B,L,3D]
  return attend({all}, {{all, width_}, {all, 2 * width_}}, mask, pass, weights);
}

MultiHeadAttention::Memory MultiHeadAttention::project(const Var& memory) const {
  if (weights_.size() > 1) return project(memory, memory);
  const Var both = project_rows(memory, {width_, 3 * width_});  // [B,K,2D]
  return {{both}, {both, width_}};
}

MultiHeadAttention::Memory MultiHeadAttention::project(const Var& keys, const Var& values) const {
  return {{project_part(keys, 1)}, {project_part(values, 2)}};
}

AttentionOutput MultiHeadAttention::operator()(const Var& queries, const Memory& memory, const Mask& mask,
                                               const Pass& pass, bool weights) const {
  return attend({project_part(queries, 0)}, memory, mask, pass, weights);
}

AttentionOutput MultiHeadAttention::step(const Var& x, core::KeyValueCache& cache, const core::Lineage& lineage,
                                         bool weights) const {
  require(poolings_.empty(),
          "multi_head_attention: steps from a cache must have the score scaled-dot with softmax; "
          "the heads have others");
  const Tensor all = project_rows(x, {}).value();  // [R,3D]
  const Index rows = all.size(0);
  cache.append(rows, width_, all.dtype())
      .copy_from(core::read_view(all, core::sliced("multi_head_attention", all.shape(), 1, width_, 3 * width_, 1)));
  const auto result = core::cached_attention(all, 0, heads_, width_ / heads_, cache, lineage, weights);
  return {out_(Var(result.context)), weights ? Var(result.weights) : Var()};
}

}  // namespace tapestry
