#pragma once
// Attention pooling: how well each key fits a query is scored, scores become weights, the weights average the values.

#include <optional>
#include <string>
#include <vector>

#include "autograd/attention.h"
#include "nn/dropout.h"
#include "nn/linear.h"

namespace tapestry {

/// The scores of a query q and a key k, with the parameters that each has:
///
///   additive    w_v . tanh(W_q q + W_k k)       W_k.weight [A,key], W_q.weight [A,query], w_v.weight [1,A]
///   dot         q . k
///   scaled-dot  q . k / sqrt(d)
///   general     q . W_k k                       W_k.weight [query,key]
///   cosine      q . k / (|q| |k|)
///   gaussian    -|q - k|^2 w^2 / 2              w [1], one over the width of the kernel; none if that is fixed
///   network     w_v . tanh(W_h tanh(W_q q + W_k k + b) + c)          as additive; W_k.bias [A], W_h.weight [A,A],
///                                                                   W_h.bias [A]
///
/// Bahdanau et al. 2015, A.1.2; dot and general: Luong et al. 2015, section 3.1; scaled-dot: Vaswani et al. 2017,
/// section 3.2.1; cosine: Graves et al. 2014, "Neural Turing Machines", section 3.3.1; gaussian: Nadaraya 1964 and
/// Watson 1964; network: two layers on [q; k], whose first product is cut in two so that a key's half is computed once.
const std::vector<std::string>& score_names();

/// What makes weights of scores, over the keys a query may see: softmax; or relu, max(score, 0) over their number
/// (Wortsman et al. 2023, "Replacing softmax with ReLU in Vision Transformers"), whose weights do not sum to 1.
const std::vector<std::string>& normaliser_names();

/// Errors (UsageError), which name `prefix` + "score" or "normaliser": an unknown name; a score for vectors of one
/// width between others; relu of the gaussian's scores, which are never above 0.
void require_pooling(const std::string& prefix, const std::string& score, const std::string& normaliser, Index query,
                     Index key);

/// The normaliser relu: scores [B,Q,K] -> weights [B,Q,K]. Errors: scores of another rank, lengths of the mask that do
/// not fit.
Var masked_relu(const Var& scores, const Mask& mask);

struct PoolingOptions {
  std::string score = "additive", normaliser = "softmax";
  Index hidden = 1;         // A
  double dropout = 0;       // of the weights
  double width = 1;         // of the Gaussian kernel, in the beginning
  bool learn_width = true;  // from there on
};

class AttentionPooling {
 public:
  /// Vectors of these widths. Errors: those of require_pooling; a width of the kernel that is not above 0.
  AttentionPooling(const Scope& scope, Index key, Index query, const PoolingOptions& options);

  /// The half of the score that only depends on the keys [B,K,key]: [B,K,*]. Once a sentence, not once a step.
  Var project(const Var& keys) const;
  /// queries [B,Q,query], projected keys [B,K,*] -> scores [B,Q,K].
  Var scores(const Var& queries, const Var& projected) const;
  /// queries [B,Q,query], projected keys [B,K,*], values [B,K,D]. A query that may see no key gets a context of zeros,
  /// and gives zero gradient. The result's weights [B,Q,K] are those before dropout; `position` is the time step of the
  /// first query. Additive and scaled-dot with softmax are fused ops, all else is composed of plain ones.
  AttentionOutput operator()(const Var& queries, const Var& projected, const Var& values, const Mask& mask,
                             const Pass& pass, Index position = 0) const;

 private:
  std::string score_;
  bool relu_, reference_;
  std::optional<Linear> w_k_, w_q_, w_h_;
  Var w_v_, w_;
  Dropout dropout_;
};

}  // namespace tapestry
