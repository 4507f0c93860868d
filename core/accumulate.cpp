#include "core/accumulate.h"

#include "core/reduce.h"

namespace tapestry::core {

void accumulate(const Tensor& target, const Tensor& g) {
  require_shape("accumulate", "the gradient", g, target.shape());
  require_same_dtype("accumulate", {target, g});
  dispatch(target.dtype(), [&]<class T> {
    T* const to = target.data<T>();
    const T* const from = g.data<T>();
    for (Index i = 0, n = target.numel(); i < n; ++i) to[i] += from[i];
  });
}

Tensor sum_to(Tensor g, const Shape& shape) {
  if (g.shape() == shape) return g;
  require(broadcast("sum_to", g.shape(), shape) == g.shape(), "sum_to: {} must broadcast to the gradient's {}", shape,
          g.shape());
  Axes axes;
  const int missing = g.rank() - shape.rank();
  for (int axis = 0; axis < g.rank(); ++axis)
    if (g.size(axis) != 1 && (axis < missing || shape[axis - missing] == 1)) axes.push_back(axis);
  if (!axes.empty()) g = sum(g, axes);  // no axes would mean all of them
  return std::move(g).reshape(shape);
}

}  // namespace tapestry::core
