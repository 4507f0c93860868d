#pragma once
// Where backward closures live.

#include <cstddef>
#include <memory>
#include <vector>

namespace tapestry {

/// Memory handed out in a row and taken back all at once. What was built in it is destroyed by who built it; the
/// chunks stay for the next tape, so that recording costs no allocation.
class Arena {
 public:
  void* allocate(std::size_t bytes) {
    bytes = (bytes + alignof(std::max_align_t) - 1) / alignof(std::max_align_t) * alignof(std::max_align_t);
    while (chunk_ < chunks_.size() && used_ + bytes > chunks_[chunk_].size) {
      ++chunk_;
      used_ = 0;
    }
    if (chunk_ == chunks_.size()) {
      const std::size_t size = bytes > chunk_bytes ? bytes : chunk_bytes;
      chunks_.push_back({std::make_unique_for_overwrite<std::byte[]>(size), size});
    }
    void* place = chunks_[chunk_].bytes.get() + used_;
    used_ += bytes;
    return place;
  }
  void clear() { chunk_ = used_ = 0; }

 private:
  static constexpr std::size_t chunk_bytes = 64 * 1024;
  struct Chunk {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size;
  };
  std::vector<Chunk> chunks_;
  std::size_t chunk_ = 0, used_ = 0;
};

}  // namespace tapestry
