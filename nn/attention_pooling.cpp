#include "nn/attention_pooling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "autograd/ops.h"

namespace tapestry {

const std::vector<std::string>& score_names() {
  static const std::vector<std::string> names{"additive", "dot",      "scaled-dot", "general",
                                              "cosine",   "gaussian", "network"};
  return names;
}

const std::vector<std::string>& normaliser_names() {
  static const std::vector<std::string> names{"softmax", "relu"};
  return names;
}

void require_pooling(const std::string& prefix, const std::string& score, const std::string& normaliser, Index query,
                     Index key) {
  require_one_of(prefix + "score", score, score_names());
  require_one_of(prefix + "normaliser", normaliser, normaliser_names());
  const bool projects = score == "additive" || score == "general" || score == "network";
  if (!projects && query != key)
    throw UsageError(
        fmt::format("{}score: {} needs queries and keys of one width, which additive, general and network "
                    "do not; given {} and {}",
                    prefix, score, query, key));
  if (score == "gaussian" && normaliser == "relu")
    throw UsageError(prefix +
                     "normaliser: must be softmax for the gaussian, whose scores are never above 0; given relu");
}

Var masked_relu(const Var& scores, const Mask& mask) {
  require(scores.rank() == 3, "masked_relu: scores must be [B,Q,K]; given {}", scores.shape());
  const Index batch = scores.size(0), queries = scores.size(1), keys = scores.size(2);
  mask.require_fits("masked_relu", batch, queries);
  const Tensor shares = Tensor::zeros(scores.shape(), scores.dtype());
  std::vector<std::int32_t> hidden(static_cast<std::size_t>(scores.value().numel()), 1);
  for (Index row = 0; row < batch * queries; ++row) {
    const Mask::Interval seen = mask.keys(row / queries, row % queries, keys);
    for (Index k = row * keys + seen.begin; k < row * keys + seen.end; ++k) {
      hidden[static_cast<std::size_t>(k)] = 0;
      shares.set(k, 1 / static_cast<double>(seen.end - seen.begin));
    }
  }
  // Not by a share of zero alone: a hidden score may be anything, NaN too.
  return relu(masked_fill(scores, Ids(std::move(hidden), scores.shape()), 0)) * Var(shares);
}

namespace {

// x / |x|. A vector of zeros, which has no direction, stays one and gets no gradient.
Var normalised(const Var& x) {
  constexpr double least = 1e-16;
  const Var squares = sum(square(x), {-1}, true);  // [..,1]
  std::vector<std::int32_t> none;
  for (const double value : squares.value().values()) none.push_back(value < least);
  const Var lengths = sqrt(clamp(squares, least, std::numeric_limits<double>::infinity()));
  return masked_fill(x / lengths, Ids(std::move(none), squares.shape()), 0);
}

// [B,Q,A] and [B,K,A] -> [B,Q,1,A] and [B,1,K,A]: what then broadcasts is each query beside each key.
Var of_queries(const Var& x) {
  return reshape(x, {x.size(0), x.size(1), 1, x.size(2)});
}
Var of_keys(const Var& x) {
  return reshape(x, {x.size(0), 1, x.size(1), x.size(2)});
}

}  // namespace

AttentionPooling::AttentionPooling(const Scope& scope, Index key, Index query, const PoolingOptions& options)
    : score_(options.score), reference_(scope.reference()), dropout_(scope / "dropout", options.dropout) {
  require_pooling("", score_, options.normaliser, query, key);
  relu_ = options.normaliser == "relu";
  const bool network = score_ == "network";
  if (score_ == "general") w_k_.emplace(scope / "W_k", key, query, false);
  if (score_ == "additive" || network) {
    require(options.hidden >= 1, "score: the hidden layer of {} must be at least 1 wide; given {}", score_,
            options.hidden);
    w_k_.emplace(scope / "W_k", key, options.hidden, network);
    w_q_.emplace(scope / "W_q", query, options.hidden, false);
    w_v_ = (scope / "w_v").parameter("weight", {1, options.hidden}, initialise::xavier_uniform());
  }
  if (network) w_h_.emplace(scope / "W_h", options.hidden, options.hidden);
  if (score_ == "gaussian") {
    require(options.width > 0 && std::isfinite(options.width),
            "score: the width of the gaussian must be above 0 and finite; given {}", options.width);
    w_ = options.learn_width ? scope.parameter("w", {1}, initialise::constant(1 / options.width))
                             : Var(Tensor::full({1}, 1 / options.width, scope.dtype()));
  }
}

Var AttentionPooling::project(const Var& keys) const {
  if (score_ == "cosine") return normalised(keys);
  return w_k_ ? (*w_k_)(keys) : keys;
}

Var AttentionPooling::scores(const Var& queries, const Var& projected) const {
  if (w_v_) {
    const Var fit = tanh(of_queries((*w_q_)(queries)) + of_keys(projected));  // [B,Q,K,A]
    return sum((w_h_ ? tanh((*w_h_)(fit)) : fit) * w_v_, {-1});
  }
  if (score_ == "gaussian") return sum(square(of_queries(queries) - of_keys(projected)), {-1}) * (-0.5 * square(w_));
  // (K q^T)^T, not q K^T: the keys, the larger side while decoding, stay where they are.
  const Var asking = score_ == "cosine" ? normalised(queries) : queries;
  const Var products = transpose(matmul(projected, transpose(asking, 1, 2)), 1, 2);  // [B,Q,K]
  return score_ == "scaled-dot" ? products / std::sqrt(static_cast<double>(queries.size(2))) : products;
}

AttentionOutput AttentionPooling::operator()(const Var& queries, const Var& projected, const Var& values,
                                             const Mask& mask, const Pass& pass, Index position) const {
  const double p = dropout_.rate(pass);
  const DropoutKey key = dropout_.key(pass, position);
  const bool fused = !reference_ && !relu_;
  if (fused && score_ == "additive") return additive_attention((*w_q_)(queries), projected, w_v_, values, mask, p, key);
  if (fused && score_ == "scaled-dot") {
    require(queries.size(2) == projected.size(2), "scaled-dot: queries and keys must have one width; given {} and {}",
            queries.shape(), projected.shape());
    const auto [context, weights] = scaled_dot_product_attention(
        {queries}, {projected}, {values}, {1, queries.size(2), values.size(2), mask, p, key, true});
    return {context, reshape(weights, {queries.size(0), queries.size(1), projected.size(1)})};
  }
  const Var scored = scores(queries, projected);
  const Var weights = relu_ ? masked_relu(scored, mask) : masked_softmax(scored, mask);
  return {matmul(dropout(weights, p, key), values), weights};
}

}  // namespace tapestry
