#include "core/indexing.h"

#include "core/vector.h"
#include "core/walk.h"

namespace tapestry::core {
namespace {

void require_ids_below(const char* op, const Ids& ids, Index size) {
  for (Index i = 0; i < ids.numel(); ++i)
    require(0 <= ids[i] && ids[i] < size, "{}: ids must lie in [0, {}); id {} at position {} does not", op, size,
            ids[i], i);
}

Index product(const Shape& shape, int begin, int end) {
  Index n = 1;
  for (int axis = begin; axis < end; ++axis) n *= shape[axis];
  return n;
}

// Calls each(place in x, place in ids) for the elements that ids name.
template <class F>
void each_named(const char* op, const Shape& x, int axis, const Ids& ids, F each) {
  require(ids.shape().rank() == x.rank(), "{}: ids must have the rank of {}; given {}", op, x.text(), ids.shape());
  const int along = x.axis(axis);
  for (int a = 0; a < x.rank(); ++a)
    require(a == along || ids.size(a) <= x[a], "{}: ids must fit in {} but for axis {}; given {}", op, x.text(), axis,
            ids.shape());
  require_ids_below(op, ids, x[axis]);
  Strides strides = strides_of(x);
  const Index stride = std::exchange(strides[static_cast<std::size_t>(along)], 0);
  Index done = 0;
  for (StridedWalk walk(ids.shape(), {strides}); walk.more(); walk.next())
    for (Index i = 0; i < walk.run(); ++i, ++done) each(walk.offset(0) + i * walk.step(0) + ids[done] * stride, done);
}

}  // namespace

Tensor take_rows(const char* op, const Tensor& x, int axis, const Ids& ids) {
  const int along = x.shape().axis(axis);
  const Index n = x.size(along), inner = product(x.shape(), along + 1, x.rank());
  require_ids_below(op, ids, n);
  std::vector<Index> sizes(x.shape().begin(), x.shape().begin() + along);
  sizes.insert(sizes.end(), ids.shape().begin(), ids.shape().end());
  sizes.insert(sizes.end(), x.shape().begin() + along + 1, x.shape().end());
  const Tensor y = Tensor::empty(Shape(sizes), x.dtype());
  dispatch(x.dtype(), [&]<class T> {
    const T* from = x.data<T>();
    T* to = y.data<T>();
    for (Index o = product(x.shape(), 0, along); o > 0; --o, from += n * inner)
      for (auto id : ids.values()) to = std::copy_n(from + id * inner, inner, to);
  });
  return y;
}

void add_rows(const Tensor& target, int axis, const Ids& ids, const Tensor& rows) {
  const int along = target.shape().axis(axis);
  const Index n = target.size(along), inner = product(target.shape(), along + 1, target.rank());
  dispatch(target.dtype(), [&]<class T> {
    T* to = target.data<T>();
    const T* from = rows.data<T>();
    for (Index o = product(target.shape(), 0, along); o > 0; --o, to += n * inner)
      for (auto id : ids.values()) {
        T* const row = to + id * inner;
        map(
            inner, row, [](auto a, auto b) { return a + b; }, row, from);
        from += inner;
      }
  });
}

Tensor gather(const char* op, const Tensor& x, int axis, const Ids& ids) {
  const Tensor y = Tensor::empty(ids.shape(), x.dtype());
  dispatch(x.dtype(), [&]<class T> {
    each_named(op, x.shape(), axis, ids,
               [from = x.data<T>(), to = y.data<T>()](Index in_x, Index in_ids) { to[in_ids] = from[in_x]; });
  });
  return y;
}

void scatter_add(const char* op, const Tensor& target, int axis, const Ids& ids, const Tensor& y) {
  require_shape(op, "the source", y, ids.shape());
  dispatch(target.dtype(), [&]<class T> {
    each_named(op, target.shape(), axis, ids,
               [to = target.data<T>(), from = y.data<T>()](Index in_x, Index in_ids) { to[in_x] += from[in_ids]; });
  });
}

}  // namespace tapestry::core
