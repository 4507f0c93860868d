#pragma once
// Timing of what is too short for one measurement.

#include <chrono>

namespace tapestry {

/// Calls `f` again and again for at least so many seconds, once at least; returns the mean seconds of a call.
template <class F>
double mean_seconds(double at_least, F&& f) {
  const auto start = std::chrono::steady_clock::now();
  double passed = 0;
  int calls = 0;
  do {
    f();
    ++calls;
    passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  } while (passed < at_least);
  return passed / calls;
}

}  // namespace tapestry
