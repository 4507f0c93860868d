#pragma once
// Tensor = shared buffer + offset + shape + dtype. Always contiguous and row-major.

#include <functional>
#include <span>
#include <vector>

#include "core/dtype.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/shape.h"

namespace tapestry {

/// A handle to an array of numbers. Copies share the numbers, as do `reshape` and `rows`; everything else that
/// rearranges them copies. A default-constructed Tensor has no value: an input that is absent.
class Tensor {
 public:
  Tensor() = default;

  /// Uninitialised. Who calls this writes every element.
  static Tensor empty(const Shape& shape, DType dtype);
  static Tensor zeros(const Shape& shape, DType dtype);
  static Tensor full(const Shape& shape, double value, DType dtype);
  /// Row-major values. Errors: as many values as the shape has elements.
  static Tensor from(std::span<const double> values, const Shape& shape, DType dtype);
  static Tensor from(std::initializer_list<double> values, const Shape& shape, DType dtype) {
    return from(std::span(values.begin(), values.size()), shape, dtype);
  }
  static Tensor scalar(double value, DType dtype) { return full({}, value, dtype); }

  explicit operator bool() const { return static_cast<bool>(buffer_); }
  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  Index numel() const { return numel_; }
  int rank() const { return shape_.rank(); }
  Index size(int axis) const { return shape_[axis]; }

  /// The elements. A Tensor is a handle, so constness of the handle says nothing about them: who writes must know that
  /// nobody else reads. Errors: T is not the tensor's dtype, or there is no value.
  template <class T>
  T* data() const {
    require(dtype_of<T> == dtype_ && buffer_, "tensor: data of type {} asked for; it {}", name(dtype_of<T>),
            buffer_ ? "is of the other type" : "has no value");
    return reinterpret_cast<T*>(buffer_.data()) + offset_;
  }

  /// The same elements in another shape; one size may be -1 and is inferred. Shares memory.
  /// Errors: the number of elements differs.
  /// Of a temporary, it takes the memory over: who was the only one to hold it stays so.
  Tensor reshape(std::initializer_list<Index> sizes) const& { return Tensor(*this).reshape(sizes); }
  Tensor reshape(const Shape& shape) const& { return Tensor(*this).reshape(shape); }
  Tensor reshape(std::initializer_list<Index> sizes) && { return reshaped(std::span(sizes.begin(), sizes.size())); }
  Tensor reshape(const Shape& shape) && { return reshaped(std::span(shape.begin(), shape.end())); }
  /// Rows [begin, end) of the first axis. Shares memory. Errors: out of range.
  Tensor rows(Index begin, Index end) const;

  Tensor clone() const;
  Tensor to(DType dtype) const;
  void fill(double value) const;
  /// Copies the elements of `source` here. Errors: shapes or dtypes differ.
  void copy_from(const Tensor& source) const;

  /// The value of a tensor of one element. Errors: it has more.
  double item() const;
  /// Element `index` of the row-major order, and the write to it. Errors: out of range.
  double at(Index index) const;
  void set(Index index, double value) const;
  std::vector<double> values() const;

  /// Whether no other tensor shares the memory.
  bool unique() const { return buffer_.unique(); }

 private:
  Tensor reshaped(std::span<const Index> sizes);
  Buffer buffer_;
  Index offset_ = 0;  // in elements
  Index numel_ = 0;
  Shape shape_;
  DType dtype_ = DType::f32;
};

/// Errors: `op: f32 and f64 do not mix ...` unless all dtypes are that of the first; absent tensors are passed over.
void require_same_dtype(const char* op, std::initializer_list<std::reference_wrapper<const Tensor>> tensors);

/// Errors unless `tensor` has this shape: `op: name must be [2, 3]; given [3, 2]`.
void require_shape(const char* op, const char* name, const Tensor& tensor, const Shape& shape);

}  // namespace tapestry

/// A tensor in a message: its shape, or "nothing" for an absent one.
template <>
struct fmt::formatter<tapestry::Tensor> : fmt::formatter<std::string> {
  template <class Context>
  auto format(const tapestry::Tensor& tensor, Context& context) const {
    return fmt::formatter<std::string>::format(tensor ? tensor.shape().text() : "nothing", context);
  }
};
