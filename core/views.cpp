#include "core/views.h"

#include "core/vector.h"

namespace tapestry::core {

View whole(const Shape& shape) {
  return {shape, strides_of(shape), 0};
}

View sliced(const char* op, const Shape& shape, int axis, Index begin, Index end, Index step) {
  const Index size = shape[axis];
  const Index from = begin < 0 ? begin + size : begin, to = end < 0 ? end + size : end;
  require(step >= 1, "{}: the step must be at least 1; given {}", op, step);
  require(0 <= from && from <= to && to <= size, "{}: a range within axis {} of {} is needed; given [{}, {})", op, axis,
          shape, begin, end);
  View view = whole(shape);
  auto& stride = view.strides[static_cast<std::size_t>(shape.axis(axis))];
  view.shape = shape.with(axis, (to - from + step - 1) / step);
  view.offset = from * stride;
  stride *= step;
  return view;
}

namespace {

// Calls each(element of x, element of the contiguous tensor, count, step within x) run by run.
template <class F>
void each_run(const View& view, F each) {
  Index done = 0;
  for (StridedWalk walk(view.shape, {view.strides}); walk.more(); walk.next(), done += walk.run())
    each(view.offset + walk.offset(0), done, walk.run(), walk.step(0));
}

}  // namespace

Tensor read_view(const Tensor& x, const View& view) {
  const Tensor y = Tensor::empty(view.shape, x.dtype());
  dispatch(x.dtype(), [&]<class T> {
    each_run(view, [from = x.data<T>(), to = y.data<T>()](Index place, Index done, Index count, Index step) {
      if (step == 1) {
        std::copy_n(from + place, count, to + done);
      } else if (step == 0) {
        std::fill_n(to + done, count, from[place]);
      } else {
        for (Index i = 0; i < count; ++i) to[done + i] = from[place + i * step];
      }
    });
  });
  return y;
}

void write_view(const Tensor& x, const View& view, const Tensor& y) {
  require_shape("write_view", "the source", y, view.shape);
  dispatch(x.dtype(), [&]<class T> {
    each_run(view, [to = x.data<T>(), from = y.data<T>()](Index place, Index done, Index count, Index step) {
      if (step == 1) {
        std::copy_n(from + done, count, to + place);
      } else {
        for (Index i = 0; i < count; ++i) to[place + i * step] = from[done + i];
      }
    });
  });
}

void add_view(const Tensor& x, const View& view, const Tensor& y) {
  require_shape("add_view", "the source", y, view.shape);
  dispatch(x.dtype(), [&]<class T> {
    each_run(view, [to = x.data<T>(), from = y.data<T>()](Index place, Index done, Index count, Index step) {
      if (step == 1) {
        map(
            count, to + place, [](auto a, auto b) { return a + b; }, to + place, from + done);
      } else {
        for (Index i = 0; i < count; ++i) to[place + i * step] += from[done + i];
      }
    });
  });
}

Tensor broadcast_to(const char* op, const Tensor& x, const Shape& shape) {
  require(broadcast(op, x.shape(), shape) == shape, "{}: {} does not broadcast to {}", op, x.shape(), shape);
  return read_view(x, {shape, broadcast_strides(x.shape(), shape), 0});
}

}  // namespace tapestry::core
