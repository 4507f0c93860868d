#include "core/reduce.h"

#include "core/vector.h"
#include "core/views.h"

namespace tapestry::core {
namespace {

std::vector<bool> chosen(const char* op, const Shape& shape, const Axes& axes) {
  std::vector<bool> reduce(static_cast<std::size_t>(shape.rank()), axes.empty());
  for (int axis : axes) {
    const auto a = static_cast<std::size_t>(shape.axis(axis));
    require(!reduce[a], "{}: axis {} of {} is given twice", op, axis, shape);
    reduce[a] = true;
  }
  return reduce;
}

// A tensor with its reduced axes brought together: [outer, n, inner], n to be reduced.
struct Folded {
  Tensor x;
  Index outer = 1, n = 1, inner = 1;
};

Folded fold_axes(const char* op, const Tensor& x, const Axes& axes) {
  const std::vector<bool> reduce = chosen(op, x.shape(), axes);
  Folded folded{x};
  int groups = 0;  // of neighbouring reduced axes; axes of size 1 may count to either side
  bool within = false;
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (x.size(axis) == 1) continue;
    const bool reduced_axis = reduce[static_cast<std::size_t>(axis)];
    if (reduced_axis && !within) ++groups;
    within = reduced_axis;
    (within ? folded.n : groups == 0 ? folded.outer : folded.inner) *= x.size(axis);
  }
  if (groups <= 1) return folded;
  // Apart from one another: a copy with the reduced axes last.
  View view = whole(x.shape());
  std::vector<Index> sizes;
  const Strides strides = view.strides;
  for (bool last : {false, true})
    for (int axis = 0; axis < x.rank(); ++axis)
      if (reduce[static_cast<std::size_t>(axis)] == last) {
        view.strides[sizes.size()] = strides[static_cast<std::size_t>(axis)];
        sizes.push_back(x.size(axis));
      }
  view.shape = Shape(sizes);
  return {read_view(x, view), folded.outer * folded.inner, folded.n, 1};
}

// sums[c] += column c of x [rows, columns], in f64; eight rows at a time, so that the sums are touched rarely.
template <class T>
void gather_columns(Index rows, Index columns, const T* x, double* sums) {
  constexpr Index block = 8;
  for (Index r = 0; r < rows; r += block, x += block * columns) {
    const Index height = std::min(block, rows - r);
    for (Index c = 0; c < columns; c += lanes<T>) {
      const Index width = std::min(lanes<T>, columns - c);
      const auto row = [&](Index i) {
        const T* const from = x + i * columns + c;
        return width == lanes<T> ? Batch<T>::load_unaligned(from) : load_part<T>(from, width);
      };
      Batch<T> total;
      if (height == block) {
        total = ((row(0) + row(1)) + (row(2) + row(3))) + ((row(4) + row(5)) + (row(6) + row(7)));
      } else {
        total = row(0);
        for (Index i = 1; i < height; ++i) total += row(i);
      }
      alignas(64) T each[lanes<T>];
      total.store_aligned(each);
      for (Index i = 0; i < width; ++i) sums[c + i] += static_cast<double>(each[i]);
    }
  }
}

template <class F>
Tensor extreme(const char* op, const Tensor& x, const Axes& axes, F f) {
  const Tensor y = Tensor::empty(reduced(op, x.shape(), axes, true), x.dtype());
  if (y.numel() == 0) return y;
  const Folded folded = fold_axes(op, x, axes);
  const Index n = folded.n, inner = folded.inner;
  require(n > 0, "{}: at least one element is needed; given {}", op, x.shape());
  dispatch(x.dtype(), [&]<class T> {
    const T* from = folded.x.data<T>();
    T* to = y.data<T>();
    for (Index o = 0; o < folded.outer; ++o, from += n * inner, to += inner) {
      if (inner == 1) {
        *to = fold(n, f, from);
        continue;
      }
      std::copy_n(from, inner, to);
      for (Index i = 1; i < n; ++i) map(inner, to, f, to, from + i * inner);
    }
  });
  return y;
}

}  // namespace

Shape reduced(const char* op, const Shape& shape, const Axes& axes, bool keepdims) {
  const std::vector<bool> reduce = chosen(op, shape, axes);
  std::vector<Index> sizes;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (!reduce[static_cast<std::size_t>(axis)]) {
      sizes.push_back(shape[axis]);
    } else if (keepdims) {
      sizes.push_back(1);
    }
  }
  return Shape(sizes);
}

Index reduced_count(const Shape& shape, const Axes& axes) {
  if (axes.empty()) return shape.numel();
  Index n = 1;
  for (int axis : axes) n *= shape[axis];
  return n;
}

Tensor sum(const Tensor& x, const Axes& axes) {
  const Folded folded = fold_axes("sum", x, axes);
  const Index n = folded.n, inner = folded.inner;
  const Tensor y = Tensor::empty(reduced("sum", x.shape(), axes, true), x.dtype());
  dispatch(x.dtype(), [&]<class T> {
    const T* from = folded.x.data<T>();
    T* to = y.data<T>();
    if (inner == 1) {
      for (Index o = 0; o < folded.outer; ++o, from += n) to[o] = static_cast<T>(core::sum(n, from));
      return;
    }
    const Tensor sums = Tensor::empty({inner}, DType::f64);
    for (Index o = 0; o < folded.outer; ++o, from += n * inner, to += inner) {
      sums.fill(0);
      gather_columns(n, inner, from, sums.data<double>());
      std::copy_n(sums.data<double>(), inner, to);
    }
  });
  return y;
}

Tensor max(const char* op, const Tensor& x, const Axes& axes) {
  return extreme(op, x, axes, [](auto a, auto b) { return larger(a, b); });
}

Tensor min(const char* op, const Tensor& x, const Axes& axes) {
  return extreme(op, x, axes, [](auto a, auto b) { return smaller(a, b); });
}

void add_column_sums(const Tensor& target, const Tensor& x) {
  const Index columns = target.numel();
  require(x.rank() > 0 && x.size(-1) == columns, "add_column_sums: the last axis of {} must have {} elements",
          x.shape(), columns);
  if (columns == 0) return;
  const Tensor sums = Tensor::zeros({columns}, DType::f64);
  dispatch(x.dtype(), [&]<class T> {
    gather_columns(x.numel() / columns, columns, x.data<T>(), sums.data<double>());
    T* const to = target.data<T>();
    for (Index c = 0; c < columns; ++c) to[c] += static_cast<T>(sums.data<double>()[c]);
  });
}

}  // namespace tapestry::core
