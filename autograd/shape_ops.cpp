#include "autograd/shape_ops.h"

#include <numeric>

#include "autograd/elementwise.h"
#include "autograd/record.h"
#include "core/elementwise.h"
#include "core/views.h"

namespace tapestry {
namespace {

/// y = x in the order of the view        dx at the view += dy
Var rearranged(const char* op, const Var& x, const core::View& view) {
  return record(op, core::read_view(x.value(), view), {x},
                [view](const Tensor& dy, Grads& dx) { core::add_view(dx.into(0), view, dy); });
}

/// y = x                                 dx = dy
Var reshaped(const Var& x, const Tensor& y) {
  return record("reshape", y, {x}, [shape = x.shape()](const Tensor& dy, Grads& dx) { dx.add(0, dy.reshape(shape)); });
}

}  // namespace

Var reshape(const Var& x, std::initializer_list<Index> sizes) {
  return reshaped(x, x.value().reshape(sizes));
}

Var reshape(const Var& x, const Shape& shape) {
  return reshaped(x, x.value().reshape(shape));
}

Var permute(const Var& x, const std::vector<int>& axes) {
  const core::View from = core::whole(x.shape());
  core::View view = from;
  require(static_cast<int>(axes.size()) == x.rank(), "permute: each axis of {} once is needed; given {} axes",
          x.shape(), axes.size());
  std::vector<bool> seen(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(x.shape().axis(axes[i]));
    require(!seen[axis], "permute: each axis of {} once is needed; {} is given twice", x.shape(), axes[i]);
    seen[axis] = true;
    view.shape = view.shape.with(static_cast<int>(i), x.size(axes[i]));
    view.strides[i] = from.strides[axis];
  }
  return rearranged("permute", x, view);
}

Var transpose(const Var& x, int a, int b) {
  std::vector<int> axes(static_cast<std::size_t>(x.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[static_cast<std::size_t>(x.shape().axis(a))], axes[static_cast<std::size_t>(x.shape().axis(b))]);
  return permute(x, axes);
}

/// y = x, repeated                       dx = the sum over the repetitions of dy
Var expand(const Var& x, const Shape& shape) {
  return record("expand", core::broadcast_to("expand", x.value(), shape), {x},
                [](const Tensor& dy, Grads& dx) { dx.add_broadcast(0, dy); });
}

Var repeat(const Var& x, const std::vector<Index>& counts) {
  require(static_cast<int>(counts.size()) == x.rank(), "repeat: a count for each axis of {} is needed; given {}",
          x.shape(), counts.size());
  Var y = x;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const auto count = counts[static_cast<std::size_t>(axis)];
    require(count >= 1, "repeat: counts must be at least 1; given {}", count);
    if (count > 1) y = concat(std::vector<Var>(static_cast<std::size_t>(count), y), axis);
  }
  return y;
}

Var flip(const Var& x, const std::vector<int>& axes) {
  core::View view = core::whole(x.shape());
  for (int axis : axes) {
    auto& stride = view.strides[static_cast<std::size_t>(x.shape().axis(axis))];
    require(stride > 0, "flip: axis {} is given twice", axis);
    view.offset += (x.size(axis) - 1) * stride;
    stride = -stride;
  }
  return rearranged("flip", x, view);
}

Var roll(const Var& x, Index places, int axis) {
  const Index size = x.size(axis);
  if (size == 0) return x;
  const Index cut = (size - places % size) % size;  // the element that comes to stand first
  return concat({slice(x, axis, cut, size), slice(x, axis, 0, cut)}, axis);
}

/// y = value, and x in its middle        dx = the middle of dy
Var pad(const Var& x, int axis, Index before, Index after, double value) {
  require(before >= 0 && after >= 0, "pad: the sizes must not be negative; given {} and {}", before, after);
  const Index size = x.size(axis);
  const Tensor y = Tensor::full(x.shape().with(axis, before + size + after), value, x.dtype());
  const core::View middle = core::sliced("pad", y.shape(), axis, before, before + size, 1);
  core::write_view(y, middle, x.value());
  return record("pad", y, {x}, [middle](const Tensor& dy, Grads& dx) { dx.add(0, core::read_view(dy, middle)); });
}

namespace {

// 1 where column - row lies in [low, high], of the last two axes.
Ids band(const char* op, const Shape& shape, Index low, Index high) {
  require(shape.rank() >= 2, "{}: matrices are needed; given {}", op, shape);
  const Index rows = shape[-2], columns = shape[-1];
  std::vector<std::int32_t> inside(static_cast<std::size_t>(rows * columns));
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < columns; ++c)
      inside[static_cast<std::size_t>(r * columns + c)] = low <= c - r && c - r <= high;
  return Ids(std::move(inside), {rows, columns});
}

}  // namespace

Var tril(const Var& x, Index diagonal) {
  return masked_fill(x, band("tril", x.shape(), diagonal + 1, std::numeric_limits<Index>::max()), 0);
}

Var triu(const Var& x, Index diagonal) {
  return masked_fill(x, band("triu", x.shape(), std::numeric_limits<Index>::min(), diagonal - 1), 0);
}

/// y = parts one behind the other        dpart = its piece of dy
Var concat(const std::vector<Var>& parts, int axis) {
  require(!parts.empty(), "concat: at least one tensor is needed; given none");
  const Shape& first = parts[0].shape();
  Index total = 0;
  for (const Var& part : parts) {
    require(part.rank() == first.rank() && part.shape().with(axis, 0) == first.with(axis, 0),
            "concat: shapes must agree but for axis {}; {} and {}", axis, first, part.shape());
    require_same_dtype("concat", {parts[0].value(), part.value()});
    total += part.size(axis);
  }
  const Tensor y = Tensor::empty(first.with(axis, total), parts[0].dtype());
  std::vector<core::View> pieces;
  for (Index done = 0; const Var& part : parts) {
    pieces.push_back(core::sliced("concat", y.shape(), axis, done, done + part.size(axis), 1));
    core::write_view(y, pieces.back(), part.value());
    done += part.size(axis);
  }
  return record("concat", y, parts, [pieces](const Tensor& dy, Grads& dx) {
    for (std::size_t i = 0; i < pieces.size(); ++i)
      if (dx.wants(i)) dx.add(i, core::read_view(dy, pieces[i]));
  });
}

Var stack(const std::vector<Var>& parts, int axis) {
  require(!parts.empty(), "stack: at least one tensor is needed; given none");
  std::vector<Var> slabs;
  for (const Var& part : parts) {
    require(part.shape() == parts[0].shape(), "stack: shapes must be equal; {} and {}", parts[0].shape(), part.shape());
    slabs.push_back(reshape(part, part.shape().inserted(axis, 1)));
  }
  return concat(slabs, axis < 0 ? axis + slabs[0].rank() : axis);
}

std::vector<Var> split(const Var& x, const std::vector<Index>& sizes, int axis) {
  const Index total = std::accumulate(sizes.begin(), sizes.end(), Index{0});
  require(total == x.size(axis), "split: the sizes must add up to axis {} of {}; they make {}", axis, x.shape(), total);
  std::vector<Var> parts;
  for (Index done = 0; Index size : sizes) {
    parts.push_back(slice(x, axis, done, done + size));
    done += size;
  }
  return parts;
}

Var slice(const Var& x, int axis, Index begin, Index end, Index step) {
  return rearranged("slice", x, core::sliced("slice", x.shape(), axis, begin, end, step));
}

Var select(const Var& x, int axis, Index index) {
  const Index size = x.size(axis), place = index < 0 ? index + size : index;
  require(0 <= place && place < size, "select: the index must lie within axis {} of {}; given {}", axis, x.shape(),
          index);
  return reshape(slice(x, axis, place, place + 1), x.shape().without(axis));
}

}  // namespace tapestry
