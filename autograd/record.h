#pragma once
// record(): how an op puts itself on the tape. Everything an op author needs.
//
//   /// y = tanh(x)                         dx = dy (1 - y^2)
//   Var tanh(const Var& x) {
//     Tensor y = core::tanh(x.value());
//     return record("tanh", y, {x}, [y](const Tensor& dy, Grads& dx) { dx.add(0, core::tanh_backward(dy, y)); });
//   }

#include <new>
#include <type_traits>
#include <utility>

#include "autograd/tape.h"

namespace tapestry {

/// Whether an op over these inputs will be recorded: a tape lives and one of them leads to a leaf. A fused op asks it
/// before it saves what only backward needs.
bool recording(const Inputs& inputs);

/// The part of `record` that does not depend on the closure's type.
class Recorder {
 public:
  using Invoke = void (*)(void* closure, std::span<const Tensor> cotangents, Grads& grads);
  using Destroy = void (*)(void* closure) noexcept;

  /// Whether the value was computed on a tape.
  static bool is_node(const Var& var);
  /// Memory of the current tape for a closure of `bytes`.
  static void* allocate(std::size_t bytes);
  /// Appends the entry; the returned Vars are its outputs.
  static std::vector<Var> append(const char* op, std::span<const Tensor> outputs, const Inputs& inputs, void* closure,
                                 Invoke invoke, Destroy destroy);
};

/// An op of several outputs. `backward(cotangents, grads)` gets one cotangent for each output, without a value where
/// nothing flowed back. What it captures is exactly what is saved for backward.
template <class F>
std::vector<Var> record(const char* op, std::span<const Tensor> outputs, const Inputs& inputs, F&& backward) {
  using Closure = std::decay_t<F>;
  static_assert(alignof(Closure) <= alignof(std::max_align_t), "the arena of closures aligns no further");
  if (!recording(inputs)) return {outputs.begin(), outputs.end()};
  void* closure = new (Recorder::allocate(sizeof(Closure))) Closure(std::forward<F>(backward));
  return Recorder::append(
      op, outputs, inputs, closure,
      [](void* self, std::span<const Tensor> cotangents, Grads& grads) {
        if constexpr (std::is_invocable_v<Closure&, const Tensor&, Grads&>) {
          (*static_cast<Closure*>(self))(cotangents[0], grads);
        } else {
          (*static_cast<Closure*>(self))(cotangents, grads);
        }
      },
      [](void* self) noexcept { static_cast<Closure*>(self)->~Closure(); });
}

template <class F>
std::vector<Var> record(const char* op, std::initializer_list<Tensor> outputs, const Inputs& inputs, F&& backward) {
  return record(op, std::span(outputs.begin(), outputs.size()), inputs, std::forward<F>(backward));
}

/// An op of one output: `backward(cotangent, grads)`.
template <class F>
Var record(const char* op, const Tensor& output, const Inputs& inputs, F&& backward) {
  return std::move(record(op, std::span(&output, 1), inputs, std::forward<F>(backward))[0]);
}

}  // namespace tapestry
