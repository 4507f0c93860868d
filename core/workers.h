#pragma once
// The threads that work through shards and pieces.

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "core/dtype.h"

namespace tapestry::core {

/// `threads` threads, the caller among them, that run a number of tasks and wait for each other. Task i always runs on
/// thread i mod threads: buffers return to the free list they came from, and no result can depend on who was faster.
/// Denormals are flushed on all of them.
class Workers {
 public:
  /// Errors: fewer than one thread.
  explicit Workers(int threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int threads() const { return static_cast<int>(helpers_.size()) + 1; }
  /// Runs task(0) ... task(tasks - 1). A thread whose task throws runs none of its later ones; the
  /// exception of the lowest task is thrown when all threads are done.
  void run(Index tasks, const std::function<void(Index)>& task);

 private:
  void work(std::size_t thread, std::stop_token stop);
  void run_share(std::size_t thread);

  const std::function<void(Index)>* task_ = nullptr;
  Index tasks_ = 0;
  std::atomic<std::uint64_t> round_{0};
  std::atomic<std::size_t> finished_{0};
  std::mutex mutex_;
  std::condition_variable_any wake_;
  struct Failure {
    Index task = 0;
    std::exception_ptr error;
  };
  std::vector<Failure> failures_;  // one a thread
  std::vector<std::jthread> helpers_;
};

}  // namespace tapestry::core
