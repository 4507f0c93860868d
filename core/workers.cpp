#include "core/workers.h"

#include <chrono>
#include <system_error>
#include <utility>

#include "core/denormals.h"
#include "core/error.h"

namespace tapestry::core {
namespace {

// Waiting for a hand-over that comes within microseconds is cheaper awake; longer waits sleep.
template <class Ready>
bool spin_until(Ready ready) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
  do {
    for (int i = 0; i < 64; ++i)
      if (ready()) return true;
  } while (std::chrono::steady_clock::now() < end);
  return ready();
}

}  // namespace

Workers::Workers(int threads) : failures_(static_cast<std::size_t>(threads > 0 ? threads : 0)) {
  require(threads >= 1, "workers: at least one thread is needed; given {}", threads);
  flush_denormals();
  try {
    for (std::size_t t = 1; t < failures_.size(); ++t)
      helpers_.emplace_back([this, t](std::stop_token stop) { work(t, std::move(stop)); });
  } catch (const std::system_error& error) {
    fail(fmt::format("workers: {} threads must start; only {} did: {}", threads, helpers_.size() + 1, error.what()));
  }
}

Workers::~Workers() {
  for (auto& helper : helpers_) helper.request_stop();
}

void Workers::run(Index tasks, const std::function<void(Index)>& task) {
  task_ = &task;
  tasks_ = tasks;
  finished_.store(0, std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    round_.fetch_add(1, std::memory_order_release);
  }
  wake_.notify_all();
  run_share(0);
  const auto done = [this] { return finished_.load(std::memory_order_acquire) == helpers_.size(); };
  while (!spin_until(done)) std::this_thread::yield();
  Failure first;
  for (auto& failure : failures_) {
    if (failure.error && (!first.error || failure.task < first.task)) first = failure;
    failure.error = nullptr;
  }
  if (first.error) std::rethrow_exception(first.error);
}

void Workers::run_share(std::size_t thread) {
  for (Index i = static_cast<Index>(thread); i < tasks_; i += threads()) {
    try {
      (*task_)(i);
    } catch (...) {
      failures_[thread] = {i, std::current_exception()};
      return;
    }
  }
}

void Workers::work(std::size_t thread, std::stop_token stop) {
  flush_denormals();
  for (std::uint64_t seen = 0;;) {
    const auto fresh = [&] { return round_.load(std::memory_order_acquire) != seen; };
    if (!spin_until(fresh)) {
      std::unique_lock lock(mutex_);
      if (!wake_.wait(lock, stop, fresh)) return;
    }
    seen = round_.load(std::memory_order_acquire);
    run_share(thread);
    finished_.fetch_add(1, std::memory_order_release);
  }
}

}  // namespace tapestry::core
