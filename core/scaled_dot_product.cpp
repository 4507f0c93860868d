#include "core/scaled_dot_product.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/for_vectors.h"
#include "core/gemm.h"
#include "core/transposed.h"

namespace tapestry::core {
namespace {

constexpr Index block_queries = ScaledDotProductInputs::block_queries, saved_keys = 128;

constexpr auto as_stored = Transpose::no, transposed = Transpose::yes;

// Rows of scores and weights are padded to whole registers; the padding is masked like any other key.
template <class T>
Index padded(Index keys) {
  return (keys + lanes<T> - 1) / lanes<T> * lanes<T>;
}

// One head of one sentence in some array of rows.
template <class T>
struct Rows {
  T* data = nullptr;
  Index stride = 0;

  Rows(const Tensor& x, Index b, Index column) {
    if (!x) return;
    stride = x.size(2);
    data = x.data<T>() + b * x.size(1) * stride + column;
  }
  Rows(T* data_, Index stride_) : data(data_), stride(stride_) {}
  explicit operator bool() const { return data != nullptr; }
  T* row(Index i) const { return data + i * stride; }
};

// Some queries of one head of one sentence, and the span of keys that any of them sees. Their rows of scores and
// weights begin with key `begin`.
template <class T>
struct Block {
  const ScaledDotProductInputs& in;
  Index b, h, first, count;
  Index queries, keys;
  Index begin, end;
  Rows<T> q, k, v;
  T scale;

  Block(const ScaledDotProductInputs& inputs, T scale_, Index b_, Index h_, Index first_)
      : in(inputs),
        b(b_),
        h(h_),
        first(first_),
        count(std::min(block_queries, in.query.x.size(1) - first_)),
        queries(in.query.x.size(1)),
        keys(in.keys.x.size(1)),
        begin(in.first_key(first_)),
        end(begin),
        q(in.query.x, b_, in.query.column + h_ * in.width),
        k(in.keys.x, b_, in.keys.column + h_ * in.width),
        v(in.values.x, b_, in.values.column + h_ * in.value_width),
        scale(scale_) {
    for (Index i = 0; i < count; ++i) {
      const Mask::Interval seen = interval(i);
      if (seen.begin < seen.end) end = std::max(end, seen.end);
    }
  }
  Index seen() const { return end - begin; }
  Index row_size() const { return padded<T>(seen()); }
  Mask::Interval interval(Index i) const { return in.mask.keys(b, first + i, keys); }
  // The bits of dropout for query i, or none.
  const std::uint8_t* kept(Index i) const {
    return in.kept.empty() ? nullptr : in.kept[static_cast<std::size_t>(h)].row(b * queries + first + i);
  }
};

// 0, 1, 2, ... in the lanes. Keys are counted in T itself, exactly: there are less than 2^24 of them.
template <class T>
Batch<T> lane_numbers() {
  alignas(64) std::array<T, static_cast<std::size_t>(lanes<T>)> numbers;
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<T>(i);
  return Batch<T>::load_aligned(numbers.data());
}

// softmax(scale x) over begin <= k < end of a padded row of `n` keys, zeros elsewhere, whatever was there.
template <class T>
void masked_row(Index n, T scale, Index begin, Index end, T* x) {
  const Batch<T> from(static_cast<T>(begin)), to(static_cast<T>(end)), lowest(-std::numeric_limits<T>::infinity());
  const Batch<T> factor(scale), step(static_cast<T>(lanes<T>));
  Batch<T> key = lane_numbers<T>(), most = lowest;
  for (Index i = 0; i < n; i += lanes<T>, key += step) {
    const auto hidden = key < from || key >= to;
    const auto score = xsimd::select(hidden, lowest, Batch<T>::load_unaligned(x + i) * factor);
    score.store_unaligned(x + i);
    most = larger(score, most);
  }
  T highest = fold_lanes<T>(most, [](auto a, auto b) { return larger(a, b); });
  if (highest == -std::numeric_limits<T>::infinity()) highest = 0;  // nothing seen: inf - inf would be NaN
  Batch<T> sum(0);
  for (Index i = 0; i < n; i += lanes<T>) {
    const auto e = exp(Batch<T>::load_unaligned(x + i) - Batch<T>(highest));
    e.store_unaligned(x + i);
    sum += e;
  }
  const T total = hadd(sum);
  const Batch<T> share(total == 0 ? T{0} : 1 / total);
  for (Index i = 0; i < n; i += lanes<T>) (Batch<T>::load_unaligned(x + i) * share).store_unaligned(x + i);
}

// The keys or values of one head, a column each and columns of zeros to the end of a register: what the queries of the
// head are multiplied by, block by block, and what lets these products write whole registers of padded rows. All of
// them are laid out once, or, where a mask leaves narrow bands, those of a block, which then stay in the cache.
template <class T>
class Columns {
 public:
  Columns(bool needed, Index width, const ScaledDotProductInputs& in) {
    if (!needed) return;
    const Index band = in.band();  // asks every query
    whole_ = band == in.keys.x.size(1);
    // An odd number of cache lines a row: by a power of two, a column's numbers would share one set of the cache.
    constexpr Index line = 64 / static_cast<Index>(sizeof(T));
    across_ = Tensor::empty({width, ((band + line - 1) / line | 1) * line}, dtype_of<T>);
  }
  void take(const Block<T>& at, const Rows<T>& rows) {
    if (whole_ && at.first > 0) return;
    begin_ = whole_ ? 0 : at.begin;
    transpose<T>(whole_ ? at.keys : at.seen(), across_.size(0), rows.row(begin_), rows.stride, across_.data<T>(),
                 across_.size(1));
  }
  // to[i] = x[i] times the columns that a block sees, for its rows.
  void multiply(const Block<T>& at, const Rows<T>& x, const Rows<T>& to) const {
    gemm<T>(as_stored, as_stored, at.count, at.row_size(), across_.size(0), x.row(at.first), x.stride,
            across_.data<T>() + at.begin - begin_, across_.size(1), 0, to.data, to.stride);
  }

 private:
  Tensor across_;
  bool whole_ = true;
  Index begin_ = 0;  // the key of the first column
};

// The weights of a block, before dropout, as padded rows at `to`.
template <class T>
void compute_weights(const Block<T>& at, const Columns<T>& keys, const Rows<T>& to) {
  keys.multiply(at, at.q, to);
  for (Index i = 0; i < at.count; ++i) {
    const Mask::Interval seen = at.interval(i);
    masked_row<T>(at.row_size(), at.scale, seen.begin - at.begin, seen.end - at.begin, to.row(i));
  }
}

// y = x where dropout keeps, times its scale; else 0. Short rows are one run, where a padded one has just the bits of
// its bytes: what is beyond the span has no meaning before and after.
template <class T>
void drop(const Block<T>& at, const Rows<T>& x, const Rows<T>& y) {
  const T scale = static_cast<T>(at.in.kept_scale);
  const Index bits = at.in.kept[0].row_bytes() * 8, count = std::min(bits, at.row_size());
  if (x.stride == bits && bits <= saved_keys) return drop_row(at.count * bits, at.kept(0), scale, x.data, y.data);
  for (Index i = 0; i < at.count; ++i) drop_row(count, at.kept(i), scale, x.row(i), y.row(i));
}

template <class T>
Rows<T> dropped(const Block<T>& at, const Rows<T>& weights, const Rows<T>& scratch) {
  if (at.in.kept.empty()) return weights;
  drop(at, weights, scratch);
  return scratch;
}

// dweights of the block at `to`: what the context says, through dropout, and what was asked of the weights themselves.
template <class T>
void weight_cotangents(const Block<T>& at, const Columns<T>& values, const Rows<T>& dcontext, const Rows<T>& dweights,
                       const Rows<T>& to) {
  if (dcontext) {
    values.multiply(at, dcontext, to);
    // Real values beyond what is seen, which may be anything, are multiplied by weights of zero: no NaN must be left.
    for (Index i = 0; i < at.count; ++i) std::fill(to.row(i) + at.seen(), to.row(i) + at.row_size(), T{0});
    if (!at.in.kept.empty()) drop(at, to, to);
  } else {
    std::fill_n(to.data, at.count * to.stride, T{0});
  }
  if (!dweights) return;
  for (Index i = 0; i < at.count; ++i)
    for (Index k = 0; k < at.seen(); ++k) to.row(i)[k] += dweights.row(i)[at.begin + k];
}

// ds = w (dw - sum_j w_j dw_j) / sqrt(width), in place of dw.
template <class T>
void score_cotangents(const Block<T>& at, const Rows<T>& weights, const Rows<T>& dw) {
  for (Index i = 0; i < at.count; ++i) {
    const T* const w = weights.row(i);
    T* const d = dw.row(i);
    const Batch<T> mean(dot(at.row_size(), w, d)), scale(at.scale);
    for (Index k = 0; k < at.row_size(); k += lanes<T>)
      (Batch<T>::load_unaligned(w + k) * (Batch<T>::load_unaligned(d + k) - mean) * scale).store_unaligned(d + k);
  }
}

// Padded rows for a block, zero: what products do not write must be finite, for it is multiplied by weights of zero.
template <class T>
struct Scratch {
  Scratch(bool needed, const ScaledDotProductInputs& in) {
    if (!needed) return;
    tensor = Tensor::zeros({block_queries, padded<T>(in.band())}, dtype_of<T>);
    rows = Rows<T>(tensor.data<T>(), tensor.size(1));
  }
  Tensor tensor;
  Rows<T> rows{nullptr, 0};
};

template <class T, class F>
void each_block(const ScaledDotProductInputs& in, F each) {
  const T scale = static_cast<T>(1 / std::sqrt(static_cast<double>(in.width)));
  for (Index b = 0; b < in.query.x.size(0); ++b)
    for (Index h = 0; h < in.heads; ++h)
      for (Index first = 0; first < in.query.x.size(1); first += block_queries) each(Block<T>(in, scale, b, h, first));
}

// Asks for the rows that the next head of the sentence, or the first of the next one, has in an array: pieces of a
// model width, which the processor does not see coming. (Measured on transformer-tiny: a third of attention's time.)
template <class T>
void foresee(const Block<T>& at, const Tensor& x, Index column, Index width) {
  if (!x || x.size(1) > block_queries) return;
  const bool more = at.h + 1 < at.in.heads;
  if (!more && at.b + 1 == x.size(0)) return;
  const Rows<T> next(x, more ? at.b : at.b + 1, column + (more ? at.h + 1 : 0) * width);
  constexpr Index line = 64 / static_cast<Index>(sizeof(T));
  for (Index i = 0; i < x.size(1); ++i)
    for (Index j = 0; j < width; j += line) __builtin_prefetch(next.row(i) + j);
}

// Those of queries, keys and values, in the tensors of the layout of `in`.
template <class T>
void foresee(const Block<T>& at, const Tensor& query, const Tensor& keys, const Tensor& values) {
  foresee(at, query, at.in.query.column, at.in.width);
  foresee(at, keys, at.in.keys.column, at.in.width);
  foresee(at, values, at.in.values.column, at.in.value_width);
}

// The rows of a block in weights [B,H,Q,*].
template <class T>
Rows<T> weight_rows(const Tensor& weights, const Block<T>& at) {
  const Index keys = weights.size(3);
  return {weights.data<T>() + ((at.b * at.in.heads + at.h) * at.queries + at.first) * keys, keys};
}

template <class T>
void forward(const ScaledDotProductInputs& in, const ScaledDotProductResult& result) {
  const Scratch<T> own(!result.saved, in), after(!in.kept.empty(), in);
  Columns<T> keys(true, in.width, in);
  each_block<T>(in, [&](const Block<T>& at) {
    foresee(at, in.query.x, in.keys.x, in.values.x);
    keys.take(at, at.k);
    const Rows<T> context(result.context, at.b, at.h * in.value_width);
    const Rows<T> weights = result.saved ? weight_rows<T>(result.saved, at) : own.rows;
    compute_weights(at, keys, weights);
    if (result.weights) {
      const Rows<T> to = weight_rows<T>(result.weights, at);
      for (Index i = 0; i < at.count; ++i) {
        std::fill_n(to.row(i), at.keys, T{0});
        std::copy_n(weights.row(i), at.seen(), to.row(i) + at.begin);
      }
    }
    const Rows<T> used = dropped(at, weights, after.rows);
    gemm<T>(as_stored, as_stored, at.count, in.value_width, at.seen(), used.data, used.stride, at.v.row(at.begin),
            at.v.stride, 0, context.row(at.first), context.stride);
  });
}

//   context = D(w) v               dv += D(w)^T dcontext            dw = D(dcontext v^T) + dweights
//   w = softmax(s)                 ds = w (dw - sum_j w_j dw_j)     (D: dropout, the same bits both ways)
//   s = q k^T / sqrt(width)        dq += ds k / sqrt(width)         dk += ds^T q / sqrt(width)
template <class T>
void backward(const ScaledDotProductInputs& in, const Tensor& saved, const Tensor& dcontext, const Tensor& dweights,
              const ScaledDotProductGradients& into) {
  const Scratch<T> own(!saved, in), after(!in.kept.empty(), in), cotangents(true, in);
  Columns<T> keys(!saved, in.width, in), values(static_cast<bool>(dcontext), in.value_width, in);
  each_block<T>(in, [&](const Block<T>& at) {
    foresee(at, in.query.x, in.keys.x, in.values.x);
    foresee(at, into.query, into.keys, into.values);
    foresee(at, dcontext, 0, in.value_width);
    if (!saved) keys.take(at, at.k);
    if (dcontext) values.take(at, at.v);
    const Rows<T> dout(dcontext, at.b, at.h * in.value_width);
    const Rows<T> dq(into.query, at.b, in.query.column + at.h * in.width);
    const Rows<T> dk(into.keys, at.b, in.keys.column + at.h * in.width);
    const Rows<T> dv(into.values, at.b, in.values.column + at.h * in.value_width);
    const Rows<T> weights = saved ? weight_rows<T>(saved, at) : own.rows;
    if (!saved) compute_weights(at, keys, weights);
    if (dv && dout) {
      const Rows<T> used = dropped(at, weights, after.rows);
      gemm<T>(transposed, as_stored, at.seen(), in.value_width, at.count, used.data, used.stride, dout.row(at.first),
              dout.stride, 1, dv.row(at.begin), dv.stride);
    }
    if (!dq && !dk) return;
    const Rows<T> ds = cotangents.rows;
    const Rows<T> asked = dweights ? weight_rows<T>(dweights, at) : Rows<T>(nullptr, 0);
    weight_cotangents(at, values, dout, asked, ds);
    score_cotangents(at, weights, ds);
    if (dq)
      gemm<T>(as_stored, as_stored, at.count, in.width, at.seen(), ds.data, ds.stride, at.k.row(at.begin), at.k.stride,
              1, dq.row(at.first), dq.stride);
    if (dk)
      gemm<T>(transposed, as_stored, at.seen(), in.width, at.count, ds.data, ds.stride, at.q.row(at.first), at.q.stride,
              1, dk.row(at.begin), dk.stride);
  });
}

}  // namespace

ScaledDotProductResult scaled_dot_product(const ScaledDotProductInputs& in, bool weights, bool save) {
  const Index batch = in.query.x.size(0), queries = in.query.x.size(1), keys = in.keys.x.size(1);
  const DType dtype = in.query.x.dtype();
  ScaledDotProductResult result;
  result.context = Tensor::empty({batch, queries, in.heads * in.value_width}, dtype);
  if (weights) result.weights = Tensor::empty({batch, in.heads, queries, keys}, dtype);
  dispatch(dtype, [&]<class T> {
    if (const Index band = in.band(); save && band <= saved_keys)
      result.saved = Tensor::empty({batch, in.heads, queries, padded<T>(band)}, dtype);
    forward<T>(in, result);
  });
  return result;
}

void scaled_dot_product_backward(const ScaledDotProductInputs& in, const Tensor& saved, const Tensor& dcontext,
                                 const Tensor& dweights, const ScaledDotProductGradients& gradients) {
  dispatch(in.query.x.dtype(), [&]<class T> { backward<T>(in, saved, dcontext, dweights, gradients); });
}

}  // namespace tapestry::core
