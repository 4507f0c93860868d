#pragma once
// Buffers from recycled memory: once every batch shape has been seen, training takes nothing from the system.

#include <cstddef>
#include <utility>

namespace tapestry {

/// A shared handle to 64-byte aligned memory. Copies share; the last one returns the memory to the free list of the
/// thread it dies on. Contents are not initialised.
class Buffer {
 public:
  Buffer() = default;
  static Buffer allocate(std::size_t bytes);

  Buffer(const Buffer& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) share();
  }
  Buffer(Buffer&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Buffer& operator=(Buffer other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Buffer() {
    if (block_ != nullptr) release();
  }

  std::byte* data() const { return reinterpret_cast<std::byte*>(block_) + header_bytes; }
  /// Whether this handle is the only one: then nobody else can see what is written.
  bool unique() const;
  explicit operator bool() const { return block_ != nullptr; }

 private:
  struct Block;
  struct FreeLists;
  explicit Buffer(Block* block) : block_(block) {}
  void share() const noexcept;
  void release() noexcept;
  static constexpr std::size_t header_bytes = 64;  // of a block, in front of its data
  Block* block_ = nullptr;
};

/// The capacity a request is rounded up to: its size class, at most 12.5 % above what was asked (64 bytes at least).
std::size_t size_class_bytes(std::size_t bytes);

/// Bytes of the size classes of buffers that somebody holds, whatever room they were given: now and at most since the
/// last reset, over all threads.
struct MemoryUse {
  std::size_t live = 0;
  std::size_t peak = 0;
};
MemoryUse memory_use();
void reset_peak_memory();

}  // namespace tapestry
