#pragma once
// Watching the tape: profiles, printed tapes, the search for the first NaN and planted faults are all observers.

#include <span>

#include "core/tensor.h"

namespace tapestry {

/// Sees each entry of the tapes of its thread while an ObserverScope lives.
class Observer {
 public:
  virtual ~Observer() = default;
  /// After an op was computed and recorded as entry `number` of its tape.
  virtual void recorded(Index /*number*/, const char* /*op*/, std::span<const Tensor> /*outputs*/) {}
  /// Before the backward of the entry runs.
  virtual void walking(Index /*number*/, const char* /*op*/) {}
  /// Whether `walked` is to be told what the entry gave. It is then computed apart from what others gave, which costs;
  /// else no contribution has a value.
  virtual bool wants_contributions() const { return true; }
  /// After it ran: what it gave to each of its inputs (without a value where nothing flows), before that is added to
  /// what others gave. May be changed in place.
  virtual void walked(Index /*number*/, const char* /*op*/, std::span<const Tensor> /*contributions*/) {}

  static Observer*& current() {
    thread_local Observer* observer = nullptr;
    return observer;
  }
};

class ObserverScope {
 public:
  explicit ObserverScope(Observer& observer) : previous_(Observer::current()) { Observer::current() = &observer; }
  ~ObserverScope() { Observer::current() = previous_; }
  ObserverScope(const ObserverScope&) = delete;
  ObserverScope& operator=(const ObserverScope&) = delete;

 private:
  Observer* previous_;
};

}  // namespace tapestry
