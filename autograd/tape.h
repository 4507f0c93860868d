#pragma once
// The tape: a linear list of what was computed (a Wengert list), walked once in reverse.
//
//   Var x = watch(Tensor::from({1, 2}, {2}, DType::f64));
//   Tape tape;
//   Var y = sum(square(x));
//   Gradients g = tape.backward(y);
//   g[x];  // [2, 4]

#include <functional>
#include <initializer_list>
#include <span>
#include <unordered_map>
#include <vector>

#include "autograd/var.h"

namespace tapestry {

/// The gradients of a store's parameters as one shard accumulates them: `slices[leaf.place]` for its leaves. The walk
/// adds; whoever owns the buffer zeroes it.
struct GradientBuffer {
  const void* store = nullptr;
  std::vector<Tensor> slices;
};

/// Where the backward of one op leaves the gradients of its inputs, numbered as they were given to `record`.
class Grads {
 public:
  /// Whether anybody needs the gradient of input i. Asking saves work; not asking is never wrong.
  bool wants(std::size_t i) const;
  /// Whether somebody needs it and nothing was added yet: then a first `add` saves what `into` has to clear.
  bool untouched(std::size_t i) const;
  /// Adds `g`, of exactly the input's shape. Keeps the memory of `g` only if nobody else shares it, so that what a
  /// neighbour still reads is never written. Errors: another shape or dtype.
  void add(std::size_t i, Tensor g);
  /// The place to accumulate into directly (zeros, if nothing was added yet): a product with beta = 1, a row scatter.
  Tensor into(std::size_t i);
  /// The same, or an absent tensor if nobody needs it: for kernels that know which of their gradients are wanted so.
  Tensor into_if_wanted(std::size_t i) { return wants(i) ? into(i) : Tensor(); }
  /// Adds `g` summed over the axes along which input i was broadcast.
  void add_broadcast(std::size_t i, const Tensor& g);

 private:
  friend class Tape;
  struct Destination;
  Grads(const char* op, std::span<Destination> destinations) : op_(op), destinations_(destinations) {}
  const char* op_;
  std::span<Destination> destinations_;
};

/// What a walk found.
class Gradients {
 public:
  /// The gradient by a leaf that was used on the tape, or zeros for one that was not. For a parameter whose store gave
  /// the tape a buffer it is the slice of that buffer. Errors: x is no leaf.
  Tensor operator[](const Var& x) const;

 private:
  friend class Tape;
  std::unordered_map<const Leaf*, Tensor> by_leaf_;
  std::vector<std::shared_ptr<const Leaf>> leaves_;  // keeps the addresses from being used again
  const GradientBuffer* buffer_ = nullptr;
};

/// Inputs of an op, as `record` takes them: `{x, w}`, or a span of Vars.
class Inputs {
 public:
  Inputs(std::initializer_list<std::reference_wrapper<const Var>> list) : size_(list.size()) {
    list_ = list.begin();  // the list lives as long as the call that it is an argument of
  }
  Inputs(std::span<const Var> vars) : vars_(vars.data()), size_(vars.size()) {}
  Inputs(const std::vector<Var>& vars) : Inputs(std::span<const Var>(vars)) {}
  std::size_t size() const { return size_; }
  const Var& operator[](std::size_t i) const { return list_ != nullptr ? list_[i].get() : vars_[i]; }

 private:
  const std::reference_wrapper<const Var>* list_ = nullptr;
  const Var* vars_ = nullptr;
  std::size_t size_;
};

/// Records while it lives, on the thread that made it. Tapes nest; the innermost records. Without a live tape nothing
/// is recorded: that is inference.
class Tape {
 public:
  Tape() : Tape(nullptr) {}
  /// Gradients of the buffer's store are added into `gradients`, which outlives the tape.
  explicit Tape(const GradientBuffer& gradients) : Tape(&gradients) {}
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// Walks from a scalar. Errors: not a scalar, not of this tape, or the tape was walked before.
  Gradients backward(const Var& output);
  /// Walks from several outputs, each with its cotangent: the derivative of the quantity of interest by it, of its
  /// shape (one without a value stands for 1, and needs a scalar output).
  Gradients backward(std::span<const Var> outputs, std::span<const Tensor> cotangents);

  Index entries() const;
  /// The tape that records on this thread, or none.
  static Tape* current();

 private:
  friend class Recorder;
  friend class NoRecord;
  struct Storage;
  explicit Tape(const GradientBuffer* gradients);
  std::int32_t slot_of(const Var& input, const char* op);
  void seed(const Var& output, const Tensor& cotangent);
  void walk();

  Storage* storage_;
  const GradientBuffer* buffer_;
  Tape* previous_;
  std::uint64_t serial_;
  bool walked_ = false;
};

/// Switches recording off while it lives: sampling, validation inside training.
class NoRecord {
 public:
  NoRecord();
  ~NoRecord();
  NoRecord(const NoRecord&) = delete;
  NoRecord& operator=(const NoRecord&) = delete;

 private:
  Tape* hidden_;
};

}  // namespace tapestry
