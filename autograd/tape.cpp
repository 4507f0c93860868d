#include "autograd/tape.h"

#include <atomic>
#include <memory>

#include "autograd/arena.h"
#include "autograd/observer.h"
#include "autograd/record.h"
#include "core/accumulate.h"

namespace tapestry {
namespace {

std::atomic<std::uint64_t> next_serial{1};
thread_local Tape* current_tape = nullptr;

// A place where the gradient of one value is gathered: an output of an entry, or a leaf.
struct Slot {
  Tensor gradient;  // without a value until something flows
  Shape shape;
  DType dtype;
};

struct Entry {
  const char* op;
  void* closure;
  Recorder::Invoke invoke;
  Recorder::Destroy destroy;
  std::uint32_t first_input, inputs;  // in Storage::input_slots
  std::int32_t first_output;          // outputs are neighbours in Storage::slots
  std::uint32_t outputs;
};

}  // namespace

struct Tape::Storage {
  std::vector<Entry> entries;
  std::vector<std::int32_t> input_slots;  // -1 where nobody wants the gradient
  std::vector<Slot> slots;
  std::unordered_map<const Leaf*, std::int32_t> leaf_slots;
  std::vector<std::shared_ptr<const Leaf>> leaves;  // keeps them alive while the tape knows them by address
  Arena arena;

  // Latest first: a closure may hold what an earlier one computed, never the other way round.
  void clear() {
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry)
      if (entry->closure != nullptr) entry->destroy(entry->closure);
    entries.clear();
    input_slots.clear();
    slots.clear();
    leaf_slots.clear();
    leaves.clear();
    arena.clear();
  }

  // Storage goes from tape to tape of a thread, so that a training step allocates nothing for it.
  static std::vector<std::unique_ptr<Storage>>& spare() {
    thread_local std::vector<std::unique_ptr<Storage>> storages;
    return storages;
  }
};

Tape::Tape(const GradientBuffer* gradients)
    : buffer_(gradients), previous_(current_tape), serial_(next_serial.fetch_add(1, std::memory_order_relaxed)) {
  auto& spare = Storage::spare();
  if (spare.empty()) {
    storage_ = std::make_unique<Storage>().release();
  } else {
    storage_ = spare.back().release();
    spare.pop_back();
  }
  current_tape = this;
}

Tape::~Tape() {
  storage_->clear();
  Storage::spare().emplace_back(storage_);
  current_tape = previous_;
}

Tape* Tape::current() {
  return current_tape;
}

Index Tape::entries() const {
  return static_cast<Index>(storage_->entries.size());
}

NoRecord::NoRecord() : hidden_(std::exchange(current_tape, nullptr)) {}
NoRecord::~NoRecord() {
  current_tape = hidden_;
}

// A parameter's place in the buffer of its store.
const Tensor& place_in(const GradientBuffer& buffer, const Leaf& leaf) {
  const auto place = static_cast<std::size_t>(leaf.place);
  require(place < buffer.slices.size(), "gradients: parameter {} was made after the buffer of gradients", leaf.name);
  return buffer.slices[place];
}

// The slot of an input: its own if it is a node of this tape, that of its leaf (made at first use), or -1.
std::int32_t Tape::slot_of(const Var& input, const char* op) {
  if (input.leaf_ != nullptr) {
    const auto [place, fresh] =
        storage_->leaf_slots.try_emplace(input.leaf_.get(), static_cast<std::int32_t>(storage_->slots.size()));
    if (fresh) {
      const bool in_buffer = buffer_ != nullptr && input.leaf_->store == buffer_->store;
      storage_->slots.push_back(
          {in_buffer ? place_in(*buffer_, *input.leaf_) : Tensor(), input.shape(), input.dtype()});
      storage_->leaves.push_back(input.leaf_);
    }
    return place->second;
  }
  if (input.tape_ == 0) return -1;
  require(input.tape_ == serial_,
          "{}: a value computed on another tape cannot pass its gradient on; detach() it, or record on one tape", op);
  return input.slot_;
}

bool recording(const Inputs& inputs) {
  if (current_tape == nullptr) return false;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].leaf() != nullptr || Recorder::is_node(inputs[i])) return true;
  return false;
}

bool Recorder::is_node(const Var& var) {
  return var.tape_ != 0;
}

void* Recorder::allocate(std::size_t bytes) {
  return current_tape->storage_->arena.allocate(bytes);
}

std::vector<Var> Recorder::append(const char* op, std::span<const Tensor> outputs, const Inputs& inputs, void* closure,
                                  Invoke invoke, Destroy destroy) {
  Tape& tape = *current_tape;
  auto& storage = *tape.storage_;
  Entry entry{op,
              closure,
              invoke,
              destroy,
              static_cast<std::uint32_t>(storage.input_slots.size()),
              static_cast<std::uint32_t>(inputs.size()),
              0,
              static_cast<std::uint32_t>(outputs.size())};
  try {
    require(!tape.walked_, "{}: this tape was walked by backward already; record on a new one", op);
    for (std::size_t i = 0; i < inputs.size(); ++i) storage.input_slots.push_back(tape.slot_of(inputs[i], op));
  } catch (...) {
    destroy(closure);
    storage.input_slots.resize(entry.first_input);
    throw;
  }
  entry.first_output = static_cast<std::int32_t>(storage.slots.size());
  std::vector<Var> vars;
  vars.reserve(outputs.size());
  for (const Tensor& output : outputs) {
    Var& var = vars.emplace_back(output);
    var.tape_ = tape.serial_;
    var.slot_ = static_cast<std::int32_t>(storage.slots.size());
    storage.slots.push_back({Tensor(), output.shape(), output.dtype()});
  }
  storage.entries.push_back(entry);
  if (Observer* observer = Observer::current())
    observer->recorded(static_cast<Index>(storage.entries.size()) - 1, op, outputs);
  return vars;
}

// Where an op's gradient by one input goes: the slot, or a tensor of its own while an observer looks on.
struct Grads::Destination {
  Slot* slot = nullptr;  // none: nobody wants it
  Tensor own;
  bool apart = false;
  Tensor& gradient() { return apart ? own : slot->gradient; }
};

bool Grads::wants(std::size_t i) const {
  return destinations_[i].slot != nullptr;
}

bool Grads::untouched(std::size_t i) const {
  return wants(i) && !destinations_[i].gradient();
}

void Grads::add(std::size_t i, Tensor g) {
  if (!wants(i)) return;
  auto& destination = destinations_[i];
  const Slot& slot = *destination.slot;
  require(g && g.shape() == slot.shape && g.dtype() == slot.dtype,
          "{}: the gradient of input {} must be {} {}; the backward gave {} {}", op_, i, name(slot.dtype), slot.shape,
          name(g.dtype()), g);
  if (destination.gradient()) {
    core::accumulate(destination.gradient(), g);
  } else {
    destination.gradient() = g.unique() ? std::move(g) : g.clone();
  }
}

Tensor Grads::into(std::size_t i) {
  require(wants(i), "{}: into({}) asked for the gradient of an input that wants none", op_, i);
  auto& destination = destinations_[i];
  if (!destination.gradient()) destination.gradient() = Tensor::zeros(destination.slot->shape, destination.slot->dtype);
  return destination.gradient();
}

void Grads::add_broadcast(std::size_t i, const Tensor& g) {
  if (wants(i)) add(i, core::sum_to(g, destinations_[i].slot->shape));
}

Tensor Gradients::operator[](const Var& x) const {
  require(x.leaf() != nullptr, "gradients: only leaves (parameters, watched tensors) have one; given a {} of shape {}",
          x ? "computed or constant value" : "missing value", x.shape());
  const Leaf& leaf = *x.leaf();
  if (buffer_ != nullptr && leaf.store == buffer_->store) return place_in(*buffer_, leaf);
  const auto found = by_leaf_.find(&leaf);
  return found != by_leaf_.end() && found->second ? found->second : Tensor::zeros(leaf.shape, leaf.dtype);
}

Gradients Tape::backward(const Var& output) {
  const Tensor one;
  return backward(std::span(&output, 1), std::span(&one, 1));
}

Gradients Tape::backward(std::span<const Var> outputs, std::span<const Tensor> cotangents) {
  require(!walked_, "backward: this tape was walked before; its closures are gone. Record on a new tape");
  require(outputs.size() == cotangents.size(), "backward: as many cotangents as outputs are needed; {} and {}",
          cotangents.size(), outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) seed(outputs[i], cotangents[i]);
  walked_ = true;
  walk();
  Gradients gradients;
  gradients.buffer_ = buffer_;
  gradients.leaves_ = storage_->leaves;
  for (const auto& [leaf, slot] : storage_->leaf_slots)
    gradients.by_leaf_[leaf] = storage_->slots[static_cast<std::size_t>(slot)].gradient;
  return gradients;
}

void Tape::seed(const Var& output, const Tensor& cotangent) {
  const std::int32_t slot = slot_of(output, "backward");
  require(slot >= 0, "backward: the output must depend on a leaf and be recorded on this tape; it is a constant");
  require(cotangent || output.numel() == 1, "backward: an output of shape {} needs a cotangent; only a scalar has 1",
          output.shape());
  Grads::Destination destination{&storage_->slots[static_cast<std::size_t>(slot)], {}, false};
  Grads("backward", std::span(&destination, 1))
      .add(0, cotangent ? cotangent : Tensor::full(output.shape(), 1, output.dtype()));
}

void Tape::walk() {
  Observer* const observer = Observer::current();
  const bool apart = observer != nullptr && observer->wants_contributions();
  std::vector<Grads::Destination> destinations;
  std::vector<Tensor> cotangents, contributions;
  for (Index number = entries() - 1; number >= 0; --number) {
    Entry& entry = storage_->entries[static_cast<std::size_t>(number)];
    Slot* const outputs = &storage_->slots[static_cast<std::size_t>(entry.first_output)];
    cotangents.clear();
    bool reached = false;
    for (std::uint32_t o = 0; o < entry.outputs; ++o) {
      reached |= static_cast<bool>(outputs[o].gradient);
      cotangents.push_back(std::exchange(outputs[o].gradient, Tensor()));
    }
    if (reached) {
      destinations.clear();
      for (std::uint32_t i = 0; i < entry.inputs; ++i) {
        const std::int32_t slot = storage_->input_slots[entry.first_input + i];
        destinations.push_back({slot < 0 ? nullptr : &storage_->slots[static_cast<std::size_t>(slot)], {}, apart});
      }
      if (observer != nullptr) observer->walking(number, entry.op);
      Grads grads(entry.op, destinations);
      entry.invoke(entry.closure, cotangents, grads);
      if (observer != nullptr) {
        contributions.clear();
        for (auto& destination : destinations) contributions.push_back(std::exchange(destination.own, Tensor()));
        observer->walked(number, entry.op, contributions);
        for (auto& destination : destinations) destination.apart = false;
        for (std::size_t i = 0; i < destinations.size(); ++i)
          if (contributions[i]) grads.add(i, std::move(contributions[i]));
      }
    }
    // Freed as the walk passes: peak memory falls while gradients appear.
    entry.destroy(entry.closure);
    entry.closure = nullptr;
  }
}

}  // namespace tapestry
