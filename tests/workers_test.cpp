#include "core/workers.h"

#include <doctest/doctest.h>

#include <string>

#include "core/error.h"

using namespace tapestry;

TEST_SUITE("fast") {
  TEST_CASE("every task runs once, on the thread of its number") {
    for (int threads : {1, 2, 3}) {
      core::Workers workers(threads);
      std::vector<std::thread::id> first(7), second(7);
      workers.run(7, [&](Index i) { first[static_cast<std::size_t>(i)] = std::this_thread::get_id(); });
      workers.run(7, [&](Index i) { second[static_cast<std::size_t>(i)] = std::this_thread::get_id(); });
      CHECK(first == second);
      CHECK(first[0] == std::this_thread::get_id());
      for (std::size_t i = 0; i + static_cast<std::size_t>(threads) < 7; ++i)
        CHECK(first[i] == first[i + static_cast<std::size_t>(threads)]);
      workers.run(0, [](Index) { throw Error("never"); });
    }
  }

  TEST_CASE("an exception comes out once all are done, and the workers go on") {
    core::Workers workers(3);
    std::atomic<int> ran{0};
    const auto failing = [&](Index i) {
      ++ran;
      if (i > 0) throw Error("task " + std::to_string(i));
    };
    CHECK_THROWS_WITH_AS(workers.run(3, failing), "task 1", Error);
    CHECK(ran == 3);
    // Tasks 2 and 3 fail, on threads 2 and 0: which error comes out must not depend on the number of threads.
    for (int threads : {1, 2, 3}) {
      core::Workers some(threads);
      CHECK_THROWS_WITH_AS(some.run(4,
                                    [](Index i) {
                                      if (i > 1) throw Error("task " + std::to_string(i));
                                    }),
                           "task 2", Error);
    }
    workers.run(3, [&](Index) { ++ran; });
    CHECK(ran == 6);
    CHECK_THROWS_WITH_AS(core::Workers(0), "workers: at least one thread is needed; given 0", Error);
  }
}
