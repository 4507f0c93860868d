#include "core/memory.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#include "core/kernel_clock.h"

namespace tapestry {
namespace {

constexpr std::size_t alignment = 64;

// With AddressSanitizer every buffer comes from and returns to the system, so that it sees each use after free.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool recycle = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool recycle = false;
#else
constexpr bool recycle = true;
#endif
#else
constexpr bool recycle = true;
#endif

std::atomic<std::size_t> live_bytes{0};
std::atomic<std::size_t> peak_bytes{0};

void count_live(std::size_t bytes) {
  const std::size_t live = live_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::size_t peak = peak_bytes.load(std::memory_order_relaxed);
  while (live > peak && !peak_bytes.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
  }
}

// Eight classes to every power of two: a class is at most 1/8 larger than the one below it.
struct SizeClass {
  std::size_t bytes;
  std::size_t index;
};
SizeClass size_class(std::size_t bytes) {
  const std::size_t units = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment;
  const int shift = std::max(0, static_cast<int>(std::bit_width(units)) - 4);  // keep the four leading bits, rounded up
  const std::size_t mantissa = (units + (std::size_t{1} << shift) - 1) >> shift;
  return {(mantissa << shift) * alignment, static_cast<std::size_t>(shift) * 8 + mantissa};
}

}  // namespace

// The header in front of the data; its size is the alignment, so that the data stays aligned.
struct alignas(alignment) Buffer::Block {
  std::atomic<std::uint32_t> references{1};
  std::size_t bytes = 0;        // of the class that was asked for, which is what counts as used
  std::size_t class_index = 0;  // of the class that there is room for
};

// Free blocks of one thread by size class. Blocks that outlive their thread's lists go back to the system.
struct Buffer::FreeLists {
  static constexpr std::size_t classes = 480;
  std::array<std::vector<Block*>, classes> free;

  FreeLists() { alive = true; }
  ~FreeLists() {
    alive = false;
    for (auto& blocks : free)
      for (Block* block : blocks) std::free(block);
  }

  // The smallest free block of at least this class and at most twice its size. Batches of text have hundreds of shapes;
  // if each kept blocks of its own, the lists would hold several times what is ever used at once.
  Block* take(std::size_t least) {
    for (std::size_t index = least; index <= std::min(least + 8, classes - 1); ++index) {
      if (free[index].empty()) continue;
      Block* block = free[index].back();
      free[index].pop_back();
      return block;
    }
    return nullptr;
  }

  static inline thread_local bool alive = false;
  static FreeLists& of_this_thread() {
    thread_local FreeLists lists;
    return lists;
  }
};

Buffer Buffer::allocate(std::size_t bytes) {
  const SizeClass wanted = size_class(bytes);
  if (core::KernelTimes* times = core::KernelTimes::current()) times->bytes += static_cast<double>(wanted.bytes);
  if (recycle) {
    if (Block* block = FreeLists::of_this_thread().take(wanted.index)) {
      count_live(wanted.bytes);
      block->references.store(1, std::memory_order_relaxed);
      block->bytes = wanted.bytes;
      return Buffer(block);
    }
  }
  static_assert(sizeof(Block) == header_bytes);
  void* memory = std::aligned_alloc(alignment, header_bytes + wanted.bytes);
  if (memory == nullptr) throw std::bad_alloc();
  count_live(wanted.bytes);
  Block* block = new (memory) Block;
  block->bytes = wanted.bytes;
  block->class_index = wanted.index;
  return Buffer(block);
}

void Buffer::share() const noexcept {
  block_->references.fetch_add(1, std::memory_order_relaxed);
}

void Buffer::release() noexcept {
  if (block_->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  live_bytes.fetch_sub(block_->bytes, std::memory_order_relaxed);
  if (recycle && FreeLists::alive) {
    FreeLists::of_this_thread().free[block_->class_index].push_back(block_);
  } else {
    std::free(block_);
  }
}

bool Buffer::unique() const {
  return block_ != nullptr && block_->references.load(std::memory_order_acquire) == 1;
}

std::size_t size_class_bytes(std::size_t bytes) {
  return size_class(bytes).bytes;
}

MemoryUse memory_use() {
  return {live_bytes.load(std::memory_order_relaxed), peak_bytes.load(std::memory_order_relaxed)};
}

void reset_peak_memory() {
  peak_bytes.store(live_bytes.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

}  // namespace tapestry
