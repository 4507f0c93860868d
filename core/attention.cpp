#include "core/attention.h"

#include <algorithm>
#include <vector>

#include "core/for_vectors.h"
#include "core/softmax.h"
#include "core/tanh.h"

namespace tapestry::core {
namespace {

constexpr std::size_t kept_bytes = std::size_t{1} << 20;

// The arrays of one call, as the kernels below see them: those of one query.
template <class T>
struct Query {
  const AdditiveAttentionInputs& in;
  Index b, q;  // sentence, query
  Index keys, width, depth;
  Index begin, end;  // keys it sees

  Query(const AdditiveAttentionInputs& inputs, Index b_, Index q_)
      : in(inputs), b(b_), q(q_), keys(in.keys.size(1)), width(in.keys.size(2)), depth(in.values.size(2)) {
    const auto interval = in.mask.keys(b, q, keys);
    begin = interval.begin;
    end = interval.end;
  }
  Index row() const { return b * in.query.size(1) + q; }
  Index place(Index k) const { return b * keys + k; }
  // Its row, or that of key k, in an array of the shape of ...; nothing if the tensor is absent.
  T* query(const Tensor& like) const { return like ? like.data<T>() + row() * width : nullptr; }
  T* key(const Tensor& like, Index k) const { return like ? like.data<T>() + place(k) * width : nullptr; }
  T* value(const Tensor& like, Index k) const { return like ? like.data<T>() + place(k) * depth : nullptr; }
  T* context(const Tensor& like) const { return like ? like.data<T>() + row() * depth : nullptr; }
  T* weights(const Tensor& like) const { return like ? like.data<T>() + row() * keys : nullptr; }
  T* tanhs(const Tensor& like, Index k) const { return like ? like.data<T>() + (row() * keys + k) * width : nullptr; }
  // What dropout multiplies weight k by.
  T factor(Index k) const {
    if (!in.kept.buffer) return 1;
    return (in.kept.row(row())[k / 8] >> (k % 8) & 1) != 0 ? static_cast<T>(in.scale) : T{0};
  }
};

// w_v . tanh(q + k)
template <class T>
T score(Index width, const T* query, const T* key, const T* w_v, T* tanhs) {
  Batch<T> sum(0);
  for_vectors<T>(width, [&](Index i, auto v) {
    const auto t = smooth_tanh<T>(v.load(query + i) + v.load(key + i));
    if (tanhs != nullptr) v.store(t, tanhs + i);
    sum = fma(t, v.load(w_v + i), sum);
  });
  return hadd(sum);
}

// `used` [K] is room for the weights after dropout.
template <class T>
void attend(const Query<T>& at, const AdditiveAttentionResult& result, T* used) {
  T* const weights = at.weights(result.weights);
  std::fill_n(weights, at.begin, T{0});
  std::fill(weights + at.end, weights + at.keys, T{0});
  const T* const query = at.query(at.in.query);
  const T* const w_v = at.in.w_v.template data<T>();
  for (Index k = at.begin; k < at.end; ++k)
    weights[k] = score<T>(at.width, query, at.key(at.in.keys, k), w_v, at.tanhs(result.tanhs, k));
  softmax_row(at.end - at.begin, weights + at.begin, weights + at.begin);
  for (Index k = at.begin; k < at.end; ++k) used[k] = weights[k] * at.factor(k);
  const T* const values = at.value(at.in.values, 0);
  T* const context = at.context(result.context);
  for_vectors<T>(at.depth, [&](Index i, auto v) {
    Batch<T> sum(0);
    for (Index k = at.begin; k < at.end; ++k) sum = fma(Batch<T>(used[k]), v.load(values + k * at.depth + i), sum);
    v.store(sum, context + i);
  });
}

//   context = sum_k m_k w_k v_k      dv_k = m_k w_k dcontext          dw_k = m_k (dcontext . v_k) + dweights_k
//   w = softmax(s)                   ds_k = w_k (dw_k - sum_j w_j dw_j)
//   s_k = w_v . t, t = tanh(q + k)   dq, dk_k += ds_k w_v (1 - t^2)   dw_v += ds_k t
// `ds` [K] is room.
template <class T>
void attend_backward(const Query<T>& at, const AdditiveAttentionResult& result, const T* dcontext, const T* dweights,
                     const AdditiveAttentionGradients& into, T* ds) {
  const T* const weights = at.weights(result.weights);
  for (Index k = at.begin; k < at.end; ++k) {
    T dw = dweights != nullptr ? dweights[k] : T{0};
    if (dcontext != nullptr) {
      dw += at.factor(k) * dot<T>(at.depth, dcontext, at.value(at.in.values, k));
      if (into.values) add_scaled<T>(at.depth, weights[k] * at.factor(k), dcontext, at.value(into.values, k));
    }
    ds[k] = dw;
  }
  softmax_backward_row<T>(at.end - at.begin, ds + at.begin, weights + at.begin, ds + at.begin);
  const T* const query = at.query(at.in.query);
  const T* const keys = at.key(at.in.keys, 0);
  const T* const tanhs = at.tanhs(result.tanhs, 0);
  const T* const w_v = at.in.w_v.template data<T>();
  T* const dquery = at.query(into.query);
  T* const dkeys = at.key(into.keys, 0);
  T* const dw_v = into.w_v ? into.w_v.data<T>() : nullptr;
  for_vectors<T>(at.width, [&](Index i, auto v) {
    const Batch<T> q = v.load(query + i), weight = v.load(w_v + i);
    Batch<T> of_query(0), of_weight(0);
    for (Index k = at.begin; k < at.end; ++k) {
      const Index place = k * at.width + i;
      const Batch<T> dscore(ds[k]),
          t = tanhs != nullptr ? v.load(tanhs + place) : smooth_tanh<T>(q + v.load(keys + place));
      const Batch<T> dsum = dscore * weight * (Batch<T>(1) - t * t);
      of_query += dsum;
      of_weight = fma(dscore, t, of_weight);
      if (dkeys != nullptr) v.store(v.load(dkeys + place) + dsum, dkeys + place);
    }
    if (dquery != nullptr) v.store(v.load(dquery + i) + of_query, dquery + i);
    if (dw_v != nullptr) v.store(v.load(dw_v + i) + of_weight, dw_v + i);
  });
}

}  // namespace

void AdditiveAttentionInputs::check(const char* op) const {
  require(query && query.rank() == 3, "{}: queries must be [B,Q,A]; given {}", op, query);
  const Index batch = query.size(0), width = query.size(2);
  require(keys && keys.rank() == 3 && keys.size(0) == batch && keys.size(2) == width,
          "{}: keys must be [{},K,{}] for queries {}; given {}", op, batch, width, query, keys);
  require(values && values.rank() == 3 && values.size(0) == batch && values.size(1) == keys.size(1),
          "{}: values must be [{},{},D] for keys {}; given {}", op, batch, keys.size(1), keys, values);
  require(w_v && (w_v.shape() == Shape{width} || w_v.shape() == Shape{1, width}), "{}: w_v must be [{}]; given {}", op,
          width, w_v);
  require_same_dtype(op, {query, keys, w_v, values});
  mask.require_fits(op, batch, query.size(1));
}

AdditiveAttentionResult additive_attention(const AdditiveAttentionInputs& in, bool keep) {
  const Index batch = in.query.size(0), queries = in.query.size(1), keys = in.keys.size(1), width = in.keys.size(2);
  const DType dtype = in.query.dtype();
  AdditiveAttentionResult result;
  result.context = Tensor::empty({batch, queries, in.values.size(2)}, dtype);
  result.weights = Tensor::empty({batch, queries, keys}, dtype);
  const Shape tanhs{batch, queries, keys, width};
  if (keep && static_cast<std::size_t>(tanhs.numel()) * bytes_of(dtype) <= kept_bytes)
    result.tanhs = Tensor::empty(tanhs, dtype);
  dispatch(dtype, [&]<class T> {
    std::vector<T> used(static_cast<std::size_t>(keys));
    for (Index b = 0; b < batch; ++b)
      for (Index q = 0; q < queries; ++q) attend(Query<T>(in, b, q), result, used.data());
  });
  return result;
}

void additive_attention_backward(const AdditiveAttentionInputs& in, const AdditiveAttentionResult& result,
                                 const Tensor& dcontext, const Tensor& dweights,
                                 const AdditiveAttentionGradients& gradients) {
  dispatch(in.query.dtype(), [&]<class T> {
    std::vector<T> ds(static_cast<std::size_t>(in.keys.size(1)));
    for (Index b = 0; b < in.query.size(0); ++b) {
      for (Index q = 0; q < in.query.size(1); ++q) {
        const Query<T> at(in, b, q);
        attend_backward<T>(at, result, at.context(dcontext), at.weights(dweights), gradients, ds.data());
      }
    }
  });
}

}  // namespace tapestry::core
