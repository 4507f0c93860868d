#include "core/tensor.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace tapestry {

Tensor Tensor::empty(const Shape& shape, DType dtype) {
  Tensor t;
  t.shape_ = shape;
  t.dtype_ = dtype;
  t.numel_ = shape.numel();
  t.buffer_ = Buffer::allocate(static_cast<std::size_t>(t.numel_) * bytes_of(dtype));
  return t;
}

Tensor Tensor::zeros(const Shape& shape, DType dtype) {
  const core::KernelTimer timer;
  Tensor t = empty(shape, dtype);
  // All bits zero is 0.0 in both types.
  std::memset(t.buffer_.data(), 0, static_cast<std::size_t>(t.numel_) * bytes_of(dtype));
  return t;
}

Tensor Tensor::full(const Shape& shape, double value, DType dtype) {
  Tensor t = empty(shape, dtype);
  t.fill(value);
  return t;
}

Tensor Tensor::from(std::span<const double> values, const Shape& shape, DType dtype) {
  require(static_cast<Index>(values.size()) == shape.numel(), "tensor: {} needs {} values; given {}", shape,
          shape.numel(), values.size());
  Tensor t = empty(shape, dtype);
  dispatch(dtype, [&]<class T> {
    std::transform(values.begin(), values.end(), t.data<T>(), [](double v) { return static_cast<T>(v); });
  });
  return t;
}

Tensor Tensor::reshaped(std::span<const Index> sizes) {
  std::array<Index, Shape::max_rank> wanted{};
  require(sizes.size() <= wanted.size(), "reshape: a shape has at most {} axes; given {}", wanted.size(), sizes.size());
  Index known = 1;
  Index* inferred = nullptr;
  std::copy(sizes.begin(), sizes.end(), wanted.begin());
  for (Index& size : std::span(wanted).first(sizes.size())) {
    if (size >= 0) {
      known *= size;
    } else {
      require(size == -1 && inferred == nullptr, "reshape: only one size may be -1, the others not negative; given {}",
              size);
      inferred = &size;
    }
  }
  if (inferred != nullptr) *inferred = known > 0 && numel_ % known == 0 ? numel_ / known : 0;
  const Shape shape{std::span<const Index>(wanted).first(sizes.size())};
  require(shape.numel() == numel_ && *this, "reshape: {} elements of {} must fill the new shape; given {}", numel_,
          shape_, shape);
  shape_ = shape;
  return std::move(*this);
}

Tensor Tensor::rows(Index begin, Index end) const {
  require(rank() > 0 && 0 <= begin && begin <= end && end <= size(0),
          "rows: a range within the first axis of {} is needed; given [{}, {})", shape_, begin, end);
  Tensor t = *this;
  t.shape_ = shape_.with(0, end - begin);
  t.numel_ = t.shape_.numel();
  const Index row = size(0) > 0 ? numel_ / size(0) : 0;
  t.offset_ += begin * row;
  return t;
}

Tensor Tensor::clone() const {
  Tensor t = empty(shape_, dtype_);
  t.copy_from(*this);
  return t;
}

Tensor Tensor::to(DType dtype) const {
  if (dtype == dtype_) return *this;
  Tensor t = empty(shape_, dtype);
  dispatch(dtype_, [&]<class From> {
    dispatch(dtype, [&]<class To> {
      std::transform(data<From>(), data<From>() + numel_, t.data<To>(), [](From v) { return static_cast<To>(v); });
    });
  });
  return t;
}

void Tensor::fill(double value) const {
  dispatch(dtype_, [&]<class T> { std::fill_n(data<T>(), numel_, static_cast<T>(value)); });
}

void Tensor::copy_from(const Tensor& source) const {
  require(source.shape_ == shape_ && source.dtype_ == dtype_, "copy: {} {} must be copied to the same; given {} {}",
          name(source.dtype_), source.shape_, name(dtype_), shape_);
  dispatch(dtype_, [&]<class T> { std::copy_n(source.data<T>(), numel_, data<T>()); });
}

double Tensor::item() const {
  require(numel_ == 1, "item: the tensor must have one element; it has shape {}", shape_);
  return at(0);
}

double Tensor::at(Index index) const {
  require(0 <= index && index < numel_, "at: the element must lie in [0, {}); given {}", numel_, index);
  return dispatch(dtype_, [&]<class T> { return static_cast<double>(data<T>()[index]); });
}

void Tensor::set(Index index, double value) const {
  require(0 <= index && index < numel_, "set: the element must lie in [0, {}); given {}", numel_, index);
  dispatch(dtype_, [&]<class T> { data<T>()[index] = static_cast<T>(value); });
}

std::vector<double> Tensor::values() const {
  if (!*this) return {};
  return dispatch(dtype_, [&]<class T> { return std::vector<double>(data<T>(), data<T>() + numel_); });
}

void require_same_dtype(const char* op, std::initializer_list<std::reference_wrapper<const Tensor>> tensors) {
  const Tensor* first = nullptr;
  for (const Tensor& tensor : tensors) {
    if (!tensor) continue;
    if (first == nullptr) first = &tensor;
    require(tensor.dtype() == first->dtype(), "{}: all inputs must have one dtype; {} {} and {} {}", op,
            name(first->dtype()), first->shape(), name(tensor.dtype()), tensor.shape());
  }
}

void require_shape(const char* op, const char* name, const Tensor& tensor, const Shape& shape) {
  require(tensor && tensor.shape() == shape, "{}: {} must be {}; given {}", op, name, shape, tensor);
}

}  // namespace tapestry
