#include "core/matmul.h"

#include "core/small_gemm.h"
#include "core/walk.h"

namespace tapestry::core {
namespace {

struct Sizes {
  Index m, n, k;
};

Sizes sizes_of(const char* op, const Tensor& a, Transpose ta, const Tensor& b, Transpose tb) {
  require_same_dtype(op, {a, b});
  require(a.rank() >= 2 && b.rank() >= 2, "{}: matrices are needed; given {} and {}", op, a.shape(), b.shape());
  const bool at = ta == Transpose::yes, bt = tb == Transpose::yes;
  const Index k = a.size(at ? -2 : -1);
  require(k == b.size(bt ? -1 : -2), "{}: inner sizes must match; {}{} and {}{}", op, a.shape(),
          at ? " transposed" : "", b.shape(), bt ? " transposed" : "");
  return {a.size(at ? -1 : -2), b.size(bt ? -2 : -1), k};
}

Shape leading(const Shape& shape) {
  return Shape(std::span(shape.begin(), static_cast<std::size_t>(shape.rank() - 2)));
}

}  // namespace

void add_product(const Tensor& c, const Tensor& a, Transpose ta, const Tensor& b, Transpose tb) {
  const auto [m, n, k] = sizes_of("add_product", a, ta, b, tb);
  require_shape("add_product", "the result", c, {m, n});
  require_same_dtype("add_product", {c, a});
  dispatch(c.dtype(), [&, rows = m, columns = n, inner = k]<class T> {
    gemm<T>(ta, tb, rows, columns, inner, a.data<T>(), a.size(1), b.data<T>(), b.size(1), 1, c.data<T>(), columns);
  });
}

Tensor matmul(const Tensor& a, Transpose ta, const Tensor& b, Transpose tb) {
  const auto [m, n, k] = sizes_of("matmul", a, ta, b, tb);
  const Shape batch = broadcast("matmul", leading(a.shape()), leading(b.shape()));
  const Shape shape = batch.inserted(-1, m).inserted(-1, n);
  const Tensor y = Tensor::empty(shape, a.dtype());
  if (y.numel() == 0) return y;
  dispatch(y.dtype(), [&, rows = m, columns = n, inner = k]<class T> {
    if (b.rank() == 2 && ta == Transpose::no)  // all of a's rows meet the same matrix: one product
      return gemm<T>(ta, tb, y.numel() / columns, columns, inner, a.data<T>(), inner, b.data<T>(), b.size(1), 0,
                     y.data<T>(), columns);
    // Steps in matrices, not elements.
    StridedWalk walk(batch,
                     {broadcast_strides(leading(a.shape()), batch), broadcast_strides(leading(b.shape()), batch)});
    T* to = y.data<T>();
    for (; walk.more(); walk.next())
      for (Index i = 0; i < walk.run(); ++i, to += rows * columns)
        gemm<T>(ta, tb, rows, columns, inner, a.data<T>() + (walk.offset(0) + i * walk.step(0)) * rows * inner,
                a.size(-1), b.data<T>() + (walk.offset(1) + i * walk.step(1)) * inner * columns, b.size(-1), 0, to,
                columns);
  });
  return y;
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const auto [m, n, k] = sizes_of("linear", x, Transpose::no, weight, Transpose::yes);
  const Tensor y = Tensor::empty({m, n}, x.dtype());
  dispatch(y.dtype(), [&, rows = m, columns = n, inner = k]<class T> {
    gemm<T>(Transpose::no, Transpose::yes, rows, columns, inner, x.data<T>(), inner, weight.data<T>(), inner,
            onto_row<T>(bias), y.data<T>(), columns);
  });
  return y;
}

PackedLinear::PackedLinear(const Tensor& weight, const Tensor& bias) : bias_(bias) {
  require(weight && weight.rank() == 2, "linear: the weight must be [out,in]; given {}", weight);
  out_ = weight.size(0);
  in_ = weight.size(1);
  if (bias) require_shape("linear", "the bias", bias, {out_});
  require_same_dtype("linear", {weight, bias});
  dispatch(weight.dtype(), [&]<class T> {
    packed_ = Tensor::empty({packed_size<T>(out_, in_)}, weight.dtype());
    pack_transposed(out_, in_, weight.data<T>(), in_, packed_.data<T>());
  });
}

Tensor PackedLinear::operator()(const Tensor& x) const {
  require_shape("linear", "x", x, {x.size(0), in_});
  require_same_dtype("linear", {x, packed_});
  const Tensor y = Tensor::empty({x.size(0), out_}, x.dtype());
  dispatch(y.dtype(), [&]<class T> {
    packed_gemm<T>(x.size(0), out_, in_, x.data<T>(), in_, packed_.data<T>(), onto_row<T>(bias_), y.data<T>(), out_);
  });
  return y;
}

}  // namespace tapestry::core
