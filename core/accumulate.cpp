#include "core/accumulate.h"

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

Tensor sum_to(const Tensor& g, const Shape& shape) {
  if (g.shape() == shape) return g;
  require(broadcast("sum_to", g.shape(), shape) == g.shape(), "sum_to: {} must broadcast to the gradient's {}", shape,
          g.shape());
  // Strides into the target: 0 along the axes that were broadcast.
  std::array<Index, Shape::max_rank> sizes{}, strides{}, position{};
  const int rank = g.rank();
  Index stride = 1;
  for (int axis = 1; axis <= rank; ++axis) {
    const auto a = static_cast<std::size_t>(rank - axis);
    sizes[a] = g.size(-axis);
    const Index size = axis <= shape.rank() ? shape[-axis] : 1;
    strides[a] = size == 1 ? 0 : stride;
    stride *= size;
  }
  const Tensor result = Tensor::zeros(shape, g.dtype());
  if (g.numel() == 0) return result;
  dispatch(g.dtype(), [&]<class T> {
    const T* from = g.data<T>();
    T* const to = result.data<T>();
    // The innermost axis is a run: either summed into one place or added element by element.
    const Index run = rank > 0 ? sizes[static_cast<std::size_t>(rank - 1)] : 1;
    const bool summed = rank > 0 && strides[static_cast<std::size_t>(rank - 1)] == 0;
    for (Index done = 0, place = 0; done < g.numel(); done += run, from += run) {
      if (summed) {
        for (Index i = 0; i < run; ++i) to[place] += from[i];
      } else {
        for (Index i = 0; i < run; ++i) to[place + i] += from[i];
      }
      for (int axis = rank - 2; axis >= 0; --axis) {
        const auto a = static_cast<std::size_t>(axis);
        place += strides[a];
        if (++position[a] < sizes[a]) break;
        place -= strides[a] * sizes[a];
        position[a] = 0;
      }
    }
  });
  return result;
}

}  // namespace tapestry::core
