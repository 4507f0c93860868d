#pragma once
// What this thread spends on kernels, matrix products and buffers: what a profile asks. Off, it costs a look at a
// pointer.

#include <chrono>

namespace tapestry::core {

/// Seconds since some moment.
inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct KernelTimes {
  double bytes = 0;       // of the buffers that were taken
  double kernels = 0;     // seconds in kernels, products among them
  double products = 0;    // seconds in matrix products
  double operations = 0;  // of these products: a multiplication and an addition are two
  int depth = 0;          // kernels that call kernels count once

  /// Where this thread counts, or none.
  static KernelTimes*& current() {
    thread_local KernelTimes* times = nullptr;
    return times;
  }
};

class KernelTimer {
 public:
  KernelTimer() : times_(KernelTimes::current()) {
    if (times_ != nullptr && times_->depth++ == 0) start_ = seconds_now();
  }
  ~KernelTimer() {
    if (times_ != nullptr && --times_->depth == 0) times_->kernels += seconds_now() - start_;
  }
  KernelTimer(const KernelTimer&) = delete;
  KernelTimer& operator=(const KernelTimer&) = delete;

 private:
  KernelTimes* times_;
  double start_ = 0;
};

class ProductTimer {
 public:
  explicit ProductTimer(double operations) : times_(KernelTimes::current()) {
    if (times_ == nullptr) return;
    times_->operations += operations;
    start_ = seconds_now();
  }
  ~ProductTimer() {
    if (times_ != nullptr) times_->products += seconds_now() - start_;
  }
  ProductTimer(const ProductTimer&) = delete;
  ProductTimer& operator=(const ProductTimer&) = delete;

 private:
  KernelTimes* times_;
  double start_ = 0;
};

}  // namespace tapestry::core
