#pragma once
// Cross-entropy of rows of logits against target classes, alone and together with the linear layer before it.

#include "core/ids.h"
#include "core/tensor.h"

namespace tapestry::core {

/// What becomes of the losses of single rows.
enum class Reduction { none, sum, mean };

struct CrossEntropyOptions {
  /// Rows with this target have no loss and no gradient.
  std::int32_t ignore_index = -100;
  /// This share of the target distribution is spread evenly over all V classes, the target's own included
  /// (Szegedy et al. 2015).
  double label_smoothing = 0;
  Tensor class_weights = {};  // [V], or absent (ones); no gradient flows to them
  Tensor row_weights = {};    // one a row, or absent (ones); they do not count in the mean's divisor
  /// The mean divides by the number of rows that are not ignored, or the sum of their targets' class weights. Without
  /// such rows the sum is 0 and the mean NaN.
  Reduction reduction = Reduction::mean;
};

/// Sums over the rows that are not ignored.
struct CrossEntropySums {
  double loss = 0;     // what is minimised: smoothed, weighted
  double nll = 0;      // plain negative log-likelihood
  double divisor = 0;  // of the mean
  Index rows = 0;
};

/// Errors name `op`: a target outside of [0, V) that is not the ignored one; options that do not fit [N,V].
void check_cross_entropy(const char* op, Index rows, Index classes, DType dtype, const Ids& targets,
                         const CrossEntropyOptions& options);

/// With p = softmax(logits) of a row [V], target t, smoothing e, class weights w, row weight r:
///
///   loss = r ((1 - e) w_t (-log p_t) + e/V sum_c w_c (-log p_c))
///   dlogits_c = r (p_c ((1 - e) w_t + e/V sum_j w_j) - [c = t] (1 - e) w_t - e/V w_c)
///
/// Writes each row's loss to `losses` [N] unless that is absent.
CrossEntropySums cross_entropy(const Tensor& logits, const Ids& targets, const CrossEntropyOptions& options,
                               const Tensor& losses);
/// The gradient of sum_i scales_i loss_i by logits [N,V]; `scales` has N elements, or one for all rows.
Tensor cross_entropy_backward(const Tensor& logits, const Ids& targets, const CrossEntropyOptions& options,
                              const Tensor& scales);

/// Logits are x [N,D] weight^T [D,V] + bias [V] (which may be absent).
struct LinearCrossEntropyInputs {
  Tensor x, weight, bias;
  Ids targets;
  CrossEntropyOptions options;
};
/// Gradients of the sum of losses; absent where not wanted.
struct LinearCrossEntropyGradients {
  Tensor x, weight, bias;
};
/// The sums, by blocks of rows: the logits [N,V] never exist whole, and rows that are ignored are not computed. Adds
/// the gradients in the same pass, while a block's logits are in the cache.
CrossEntropySums linear_cross_entropy(const LinearCrossEntropyInputs& inputs,
                                      const LinearCrossEntropyGradients& gradients);

}  // namespace tapestry::core
