#pragma once
// A small generator for drawing parts of a corpus and bootstrap samples. The distributions and std::shuffle of the
// standard library differ from one library to the next; these draws are the same everywhere.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tapestry {

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  /// 64 random bits.
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
  }

  /// A whole number in [0, n), each equally likely; n > 0.
  std::uint64_t below(std::uint64_t n) {
    // 2^64 is seldom a multiple of n. Leaving out the first 2^64 mod n values makes what remains one.
    const std::uint64_t left_out = -n % n;
    for (;;) {
      const std::uint64_t x = next();
      if (x >= left_out) return x % n;
    }
  }

 private:
  std::uint64_t state_;
};

/// Puts `items` into random order, every order equally likely (Fisher and Yates).
template <class T>
void shuffle(std::vector<T>& items, SplitMix64& random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

}  // namespace tapestry
