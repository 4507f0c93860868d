#pragma once
// Conditions are ids of which 0 means false. This makes numbers of them, for vector code to compare.

#include "core/ids.h"
#include "core/tensor.h"

namespace tapestry::core {

inline Tensor as_tensor(const Ids& ids, DType dtype) {
  const Tensor result = Tensor::empty(ids.shape(), dtype);
  dispatch(dtype, [&]<class T> {
    std::transform(ids.values().begin(), ids.values().end(), result.data<T>(),
                   [](auto id) { return static_cast<T>(id); });
  });
  return result;
}

}  // namespace tapestry::core
