#include "core/memory.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <thread>

using namespace tapestry;

TEST_SUITE("fast") {
  TEST_CASE("a size class wastes at most an eighth and never shrinks a request") {
    for (std::size_t bytes = 1; bytes < 300000; bytes += bytes / 17 + 1) {
      const std::size_t given = size_class_bytes(bytes);
      CHECK(given >= bytes);
      CHECK(given % 64 == 0);
      if (bytes > 512) CHECK(static_cast<double>(given) <= 1.125 * static_cast<double>(bytes) + 64);
    }
    CHECK(size_class_bytes(0) == 64);
    CHECK(size_class_bytes(1024) == 1024);
    CHECK(size_class_bytes(1025) == 1152);
  }

  TEST_CASE("buffers are aligned, counted while held, and shared by copies") {
    const std::size_t before = memory_use().live;
    reset_peak_memory();
    {
      const Buffer a = Buffer::allocate(1000);
      CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % 64 == 0);
      CHECK(memory_use().live == before + 1024);
      CHECK(a.unique());
      const Buffer b = a;
      CHECK(b.data() == a.data());
      CHECK_FALSE(a.unique());
      CHECK(memory_use().live == before + 1024);
    }
    CHECK(memory_use().live == before);
    CHECK(memory_use().peak >= before + 1024);
  }

  TEST_CASE("a free buffer serves a request of half its size, and none of less") {
    std::thread([] {  // whose lists are empty
      const auto address = [](std::size_t bytes) { return Buffer::allocate(bytes).data(); };
      const std::byte* const first = address(1 << 20);
      if (address(1 << 20) != first) return;  // AddressSanitizer is to see each use after free: nothing is recycled
      CHECK(address((1 << 19) + 1) == first);
      CHECK(address(1 << 19) == first);
      CHECK(address(1 << 18) != first);
      CHECK(address((1 << 20) + 1) != first);
    })
        .join();
  }

  TEST_CASE("a buffer may die on another thread, and after its own") {
    const std::size_t before = memory_use().live;
    Buffer kept;
    std::thread([&] { kept = Buffer::allocate(5000); }).join();
    kept.data()[4999] = std::byte{1};
    std::thread([moved = std::move(kept)]() mutable { moved = Buffer(); }).join();
    CHECK(memory_use().live == before);
  }
}
