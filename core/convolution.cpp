#include "core/convolution.h"

#include <algorithm>

#include "core/gemm.h"
#include "core/reduce.h"
#include "core/views.h"

namespace tapestry::core {
namespace {

// How far a kernel reaches beyond one position.
Index reach(Index kernel, Index dilation) {
  constexpr Index most = Index{1} << 30;  // beyond any sequence; the product of two does not overflow
  require(kernel >= 1 && kernel <= most && dilation >= 1 && dilation <= most,
          "conv1d: kernel and dilation must be 1 to {}; given {} and {}", most, kernel, dilation);
  return (kernel - 1) * dilation;
}

// Rows of x and of y that element j of the kernel joins, in one sequence.
struct Run {
  Index x, y, count;

  Run(const Conv1dInputs& in, Index b, Index j) {
    const Index shift = j * in.plan.dilation - in.plan.left, length = in.length(b);
    y = std::max<Index>(0, -shift);
    x = y + shift;
    count = std::min(in.positions(length) - y, length - x);
  }
};

// Calls each(b, j, run) where there is something to multiply.
template <class F>
void each_run(const Conv1dInputs& in, F each) {
  for (Index b = 0; b < in.batch(); ++b)
    for (Index j = 0; j < in.kernel(); ++j)
      if (const Run run(in, b, j); run.count > 0) each(b, j, run);
}

// The weight as matrices W_j [out,in], one for each element of the kernel, or as their transposes [in,out].
View matrices(const Shape& weight, Transpose transposed) {
  const Index out = weight[0], in = weight[1], kernel = weight[2];
  if (transposed == Transpose::yes) return {{kernel, in, out}, {1, kernel, in * kernel}};
  return {{kernel, out, in}, {1, in * kernel, kernel}};
}

// Row t of sequence b.
template <class T>
T* row(const Tensor& sequences, Index b, Index t) {
  return sequences.data<T>() + (b * sequences.size(1) + t) * sequences.size(2);
}

}  // namespace

ConvolutionPlan ConvolutionPlan::same(Index kernel, Index dilation) {
  const Index zeros = reach(kernel, dilation);
  return {zeros / 2, zeros - zeros / 2, dilation};
}

ConvolutionPlan ConvolutionPlan::causal(Index kernel, Index dilation) {
  return {reach(kernel, dilation), 0, dilation};
}

Index Conv1dInputs::positions(Index length) const {
  return length == 0 ? 0 : std::max<Index>(0, length + plan.left + plan.right - (kernel() - 1) * plan.dilation);
}

void Conv1dInputs::check(const char* op) const {
  require(x && x.rank() == 3, "{}: x must be [B,T,in]; given {}", op, x);
  require(weight && weight.rank() == 3 && weight.size(1) == x.size(2),
          "{}: the weight must be [out,{},k] for x {}; given {}", op, x.size(2), x, weight);
  if (bias) require_shape(op, "the bias", bias, {weight.size(0)});
  require_same_dtype(op, {x, weight, bias});
  const Index all = reach(kernel(), plan.dilation);
  require(plan.left >= 0 && plan.right >= 0 && plan.left <= all && plan.right <= all,
          "{}: zeros on either side must be 0 to {}, as far as the kernel reaches; given {} and {}", op, all, plan.left,
          plan.right);
  if (!lengths) return;
  require(lengths.shape() == Shape{batch()}, "{}: lengths must be [{}]; given {}", op, batch(), lengths.shape());
  for (const Index length : lengths.values())
    require(length >= 0 && length <= x.size(1), "{}: lengths must be 0 to {}; given {}", op, x.size(1), length);
}

Tensor conv1d(const Conv1dInputs& in) {
  const Index width = in.x.size(2), out = in.weight.size(0);
  const Tensor y = Tensor::zeros({in.batch(), in.positions(in.x.size(1)), out}, in.x.dtype());
  const Tensor weight = read_view(in.weight, matrices(in.weight.shape(), Transpose::yes));
  dispatch(y.dtype(), [&]<class T> {
    for (Index b = 0; in.bias && b < in.batch(); ++b)
      for (Index t = 0; t < in.positions(in.length(b)); ++t) std::copy_n(in.bias.data<T>(), out, row<T>(y, b, t));
    each_run(in, [&](Index b, Index j, const Run& run) {
      gemm<T>(Transpose::no, Transpose::no, run.count, out, width, row<T>(in.x, b, run.x), width,
              weight.data<T>() + j * width * out, out, 1, row<T>(y, b, run.y), out);
    });
  });
  return y;
}

//   y_t = bias + sum_j W_j x_{t + s_j}
//   dx_{t + s_j} += W_j^T dy_t       dW_j += dy_t x_{t + s_j}^T       dbias += dy_t
void conv1d_backward(const Conv1dInputs& in, const Tensor& dy, const Conv1dGradients& into) {
  const Index width = in.x.size(2), out = in.weight.size(0), matrix = width * out;
  const View by_element = matrices(in.weight.shape(), Transpose::no);
  Tensor weight, dweight;
  if (into.x) weight = read_view(in.weight, by_element);
  if (into.weight) dweight = Tensor::zeros(by_element.shape, dy.dtype());
  dispatch(dy.dtype(), [&]<class T> {
    each_run(in, [&](Index b, Index j, const Run& run) {
      const T* const g = row<T>(dy, b, run.y);
      if (into.x)
        gemm<T>(Transpose::no, Transpose::no, run.count, width, out, g, out, weight.data<T>() + j * matrix, width, 1,
                row<T>(into.x, b, run.x), width);
      if (into.weight)
        gemm<T>(Transpose::yes, Transpose::no, out, width, run.count, g, out, row<T>(in.x, b, run.x), width, 1,
                dweight.data<T>() + j * matrix, width);
    });
  });
  if (into.weight) add_view(into.weight, by_element, dweight);
  if (!into.bias) return;
  const Index steps = dy.size(1);
  const Tensor rows = dy.reshape({in.batch() * steps, out});
  for (Index b = 0; b < in.batch(); ++b)
    add_column_sums(into.bias, rows.rows(b * steps, b * steps + in.positions(in.length(b))));
}

}  // namespace tapestry::core
