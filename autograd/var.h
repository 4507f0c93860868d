#pragma once
// Var: a value, and what it is to differentiation.

#include <memory>
#include <string>

#include "core/tensor.h"

namespace tapestry {

/// Something to differentiate by: a parameter of a store, or a tensor the user watches. It belongs to no tape.
struct Leaf {
  std::string name;
  Shape shape;
  DType dtype = DType::f32;
  const void* store = nullptr;  // the store whose gradient buffers have a place for it, if any
  Index place = 0;              // which one
};

/// A tensor and its immutable identity: a node of a tape (something computed while the tape lived), a leaf, or neither,
/// which is a constant. A default-constructed Var is absent: no bias, no first state.
class Var {
 public:
  Var() = default;
  /// A constant: no gradient flows to it.
  Var(Tensor constant) : value_(std::move(constant)) {}
  /// A leaf.
  Var(Tensor value, std::shared_ptr<const Leaf> leaf) : value_(std::move(value)), leaf_(std::move(leaf)) {}

  explicit operator bool() const { return static_cast<bool>(value_); }
  const Tensor& value() const { return value_; }
  const Shape& shape() const { return value_.shape(); }
  DType dtype() const { return value_.dtype(); }
  Index size(int axis) const { return value_.size(axis); }
  int rank() const { return value_.rank(); }
  Index numel() const { return value_.numel(); }

  const std::shared_ptr<const Leaf>& leaf() const { return leaf_; }
  /// The same value as a constant: differentiation stops here.
  Var detach() const { return Var(value_); }

 private:
  friend class Tape;
  friend class Recorder;
  Tensor value_;
  std::shared_ptr<const Leaf> leaf_;
  std::uint64_t tape_ = 0;  // the serial number of the node's tape; 0 for leaves and constants
  std::int32_t slot_ = -1;  // the node's place in that tape
};

/// A leaf of its own, to ask for the gradient by `value`.
inline Var watch(Tensor value, std::string name = "input") {
  auto leaf = std::make_shared<Leaf>(Leaf{std::move(name), value.shape(), value.dtype(), nullptr, 0});
  return Var(std::move(value), std::move(leaf));
}

}  // namespace tapestry
