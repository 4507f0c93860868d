#include "core/cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/matmul.h"
#include "core/reduce.h"
#include "core/vector.h"

namespace tapestry::core {
namespace {

// Rows of logits that exist at once. 256 rows of a small vocabulary stay in the second cache; for a large one, fewer
// would make the products slower and more would leave the third.
constexpr Index block_rows = 256;

// The options with what all rows share, as numbers of type T.
template <class T>
struct Loss {
  const CrossEntropyOptions& options;
  Index classes;
  const T *class_weights, *row_weights;  // or none
  double weight_sum;

  Loss(const CrossEntropyOptions& o, Index classes_)
      : options(o),
        classes(classes_),
        class_weights(o.class_weights ? o.class_weights.data<T>() : nullptr),
        row_weights(o.row_weights ? o.row_weights.data<T>() : nullptr),
        weight_sum(class_weights != nullptr ? sum(classes, class_weights) : static_cast<double>(classes)) {}

  double class_weight(Index c) const { return class_weights != nullptr ? class_weights[c] : 1; }
  double row_weight(Index row) const { return row_weights != nullptr ? row_weights[row] : 1; }

  // The loss of one row, added to `sums`; and its gradient times `scale`, written to `gradient` (which may be the
  // logits) unless that is null.
  double row(Index number, const T* logits, std::int32_t target, CrossEntropySums& sums, double scale,
             T* gradient) const {
    const Index n = classes;
    const double e = options.label_smoothing, even = e / static_cast<double>(n);
    const double own = (1 - e) * class_weight(target), rest = even * weight_sum, r = row_weight(number);
    const double target_logit = logits[target];
    const T largest = fold<T>(
        n, [](auto a, auto b) { return larger(a, b); }, logits);
    double weighted_logits = 0;
    if (e != 0) {
      weighted_logits = class_weights != nullptr ? sum_of<T>(
                                                       n, [](auto x, auto w) { return x * w; }, logits, class_weights)
                                                 : sum(n, logits);
    }
    const double total = map_sum<T>(
        n, gradient, [&](auto x) { return exp(x - Batch<T>(largest)); }, logits);
    if (gradient != nullptr) {
      const Batch<T> factor(static_cast<T>(r * scale * (own + rest) / total));
      const Batch<T> spread(static_cast<T>(r * scale * even));
      if (e != 0 && class_weights != nullptr) {
        map<T>(
            n, gradient, [&](auto x, auto w) { return x * factor - spread * w; }, gradient, class_weights);
      } else {
        map<T>(
            n, gradient, [&](auto x) { return x * factor - spread; }, gradient);
      }
      gradient[target] -= static_cast<T>(r * scale * own);
    }
    const double log_total = std::log(total), nll = log_total + (static_cast<double>(largest) - target_logit);
    double loss = own * nll;
    if (e != 0) loss += rest * (log_total + static_cast<double>(largest)) - even * weighted_logits;
    loss *= r;
    sums.loss += loss;
    sums.nll += nll;
    sums.divisor += class_weight(target);
    ++sums.rows;
    return loss;
  }
};

// One block of rows of the fused layer: those of `rows` from the x of all.
template <class T>
class LinearBlock {
 public:
  LinearBlock(const LinearCrossEntropyInputs& in, const LinearCrossEntropyGradients& gradients)
      : in_(in),
        into_(gradients),
        loss_(in.options, in.weight.size(0)),
        depth_(in.x.size(1)),
        classes_(in.weight.size(0)),
        gathered_(Tensor::empty({block_rows, depth_}, in.x.dtype())),
        logits_(Tensor::empty({block_rows, classes_}, in.x.dtype())) {}

  void run(const std::vector<Index>& rows, CrossEntropySums& sums) {
    const auto count = static_cast<Index>(rows.size());
    T* const x = gathered_.template data<T>();
    T* const logits = logits_.template data<T>();
    for (Index i = 0; i < count; ++i) std::copy_n(row_of(in_.x, rows, i), depth_, x + i * depth_);
    const T* const weight = in_.weight.template data<T>();
    gemm<T>(Transpose::no, Transpose::yes, count, classes_, depth_, x, depth_, weight, depth_, onto_row<T>(in_.bias),
            logits, classes_);
    const bool wanted = into_.x || into_.weight || into_.bias;
    for (Index i = 0; i < count; ++i) {
      const Index number = rows[static_cast<std::size_t>(i)];
      T* const row = logits + i * classes_;
      loss_.row(number, row, in_.targets[number], sums, 1, wanted ? row : nullptr);
    }
    if (into_.weight) {
      gemm<T>(Transpose::yes, Transpose::no, classes_, depth_, count, logits, classes_, x, depth_, T{1},
              into_.weight.template data<T>(), depth_);
    }
    if (into_.bias) add_column_sums(into_.bias, logits_.rows(0, count));
    if (into_.x) {
      gemm<T>(Transpose::no, Transpose::no, count, depth_, classes_, logits, classes_, weight, depth_, T{0}, x, depth_);
      for (Index i = 0; i < count; ++i) {
        T* const to = row_of(into_.x, rows, i);
        for (Index d = 0; d < depth_; ++d) to[d] += x[i * depth_ + d];
      }
    }
  }

 private:
  T* row_of(const Tensor& t, const std::vector<Index>& rows, Index i) const {
    return t.data<T>() + rows[static_cast<std::size_t>(i)] * depth_;
  }

  const LinearCrossEntropyInputs& in_;
  const LinearCrossEntropyGradients& into_;
  Loss<T> loss_;
  Index depth_, classes_;
  Tensor gathered_, logits_;
};

}  // namespace

void check_cross_entropy(const char* op, Index rows, Index classes, DType dtype, const Ids& targets,
                         const CrossEntropyOptions& options) {
  require(targets.numel() == rows, "{}: one target a row is needed, {}; given {}", op, rows, targets.numel());
  for (auto target : targets.values())
    require((target >= 0 && target < classes) || target == options.ignore_index,
            "{}: targets must lie in [0, {}) or be the ignored {}; given {}", op, classes, options.ignore_index,
            target);
  require(options.label_smoothing >= 0 && options.label_smoothing <= 1,
          "{}: label smoothing must lie in [0, 1]; given {}", op, options.label_smoothing);
  if (options.class_weights) require_shape(op, "class weights", options.class_weights, {classes});
  require(!options.row_weights || options.row_weights.numel() == rows,
          "{}: one row weight a row is needed, {}; given {}", op, rows, options.row_weights);
  for (const Tensor& weights : {options.class_weights, options.row_weights})
    require(!weights || weights.dtype() == dtype, "{}: weights must be {} as the logits are; given {}", op, name(dtype),
            name(weights.dtype()));
}

CrossEntropySums cross_entropy(const Tensor& logits, const Ids& targets, const CrossEntropyOptions& options,
                               const Tensor& losses) {
  CrossEntropySums sums;
  dispatch(logits.dtype(), [&]<class T> {
    const Index classes = logits.size(1);
    const Loss<T> loss(options, classes);
    for (Index i = 0; i < logits.size(0); ++i) {
      double value = 0;
      if (targets[i] != options.ignore_index)
        value = loss.row(i, logits.data<T>() + i * classes, targets[i], sums, 1, nullptr);
      if (losses) losses.data<T>()[i] = static_cast<T>(value);
    }
  });
  return sums;
}

Tensor cross_entropy_backward(const Tensor& logits, const Ids& targets, const CrossEntropyOptions& options,
                              const Tensor& scales) {
  const Tensor gradient = Tensor::empty(logits.shape(), logits.dtype());
  dispatch(logits.dtype(), [&]<class T> {
    const Index classes = logits.size(1);
    const Loss<T> loss(options, classes);
    CrossEntropySums ignored;
    for (Index i = 0; i < logits.size(0); ++i) {
      T* const row = gradient.data<T>() + i * classes;
      if (targets[i] == options.ignore_index) {
        std::fill_n(row, classes, T{0});
      } else {
        const double scale = scales.data<T>()[scales.numel() == 1 ? 0 : i];
        loss.row(i, logits.data<T>() + i * classes, targets[i], ignored, scale, row);
      }
    }
  });
  return gradient;
}

CrossEntropySums linear_cross_entropy(const LinearCrossEntropyInputs& in,
                                      const LinearCrossEntropyGradients& gradients) {
  CrossEntropySums sums;
  dispatch(in.x.dtype(), [&]<class T> {
    LinearBlock<T> block(in, gradients);
    std::vector<Index> rows;
    for (Index i = 0; i < in.x.size(0); ++i) {
      if (in.targets[i] != in.options.ignore_index) rows.push_back(i);
      if (!rows.empty() && (i + 1 == in.x.size(0) || static_cast<Index>(rows.size()) == block_rows)) {
        block.run(rows, sums);
        rows.clear();
      }
    }
  });
  return sums;
}

}  // namespace tapestry::core
