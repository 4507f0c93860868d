#include "core/cached_attention.h"

#include <algorithm>
#include <cmath>

#include "core/for_vectors.h"
#include "core/softmax.h"

namespace tapestry::core {

Tensor KeyValueCache::append(Index rows, Index width, DType dtype) {
  const Index capacity = buffer_ ? buffer_.size(0) : 0, room = buffer_ ? buffer_.size(1) : 0;
  // A copy of the cache goes its own way.
  if (length_ == capacity || rows > room || !buffer_.unique()) {
    const Tensor larger = Tensor::empty(
        {length_ < capacity ? capacity : std::max<Index>(16, 2 * capacity), std::max(rows, room), 2 * width}, dtype);
    for (Index j = 0; j < length_; ++j)
      larger.rows(j, j + 1)
          .reshape({-1, 2 * width})
          .rows(0, room)
          .copy_from(buffer_.rows(j, j + 1).reshape({-1, 2 * width}));
    buffer_ = larger;
  }
  ++length_;
  return buffer_.rows(length_ - 1, length_).reshape({-1, 2 * width}).rows(0, rows);
}

CachedAttentionResult cached_attention(const Tensor& x, Index column, Index heads, Index width,
                                       const KeyValueCache& cache, const Lineage& lineage, bool weights) {
  const Index rows = x.size(0), length = cache.length();
  CachedAttentionResult result{Tensor::zeros({rows, heads * width}, x.dtype()), {}};
  result.weights = Tensor::empty({weights ? rows : 1, heads, length}, x.dtype());
  dispatch(x.dtype(), [&]<class T> {
    const T scale = static_cast<T>(1 / std::sqrt(static_cast<double>(width)));
    for (Index r = 0; r < rows; ++r) {
      const T* const q = x.data<T>() + r * x.size(1) + column;
      T* const context = result.context.data<T>() + r * heads * width;
      T* const w = result.weights.data<T>() + (weights ? r * heads * length : 0);
      const auto entry = [&](Index j) {
        return cache.at<T>(j, lineage[static_cast<std::size_t>(j)][static_cast<std::size_t>(r)]);
      };
      for (Index j = 0; j < length; ++j)
        for (Index h = 0; h < heads; ++h) w[h * length + j] = scale * dot(width, q + h * width, entry(j) + h * width);
      for (Index h = 0; h < heads; ++h) softmax_row(length, w + h * length, w + h * length);
      for (Index j = 0; j < length; ++j)
        for (Index h = 0; h < heads; ++h)
          add_scaled(width, w[h * length + j], entry(j) + (heads + h) * width, context + h * width);
    }
  });
  if (!weights) result.weights = {};
  return result;
}

}  // namespace tapestry::core
