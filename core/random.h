#pragma once
// Random numbers by counting: Philox4x32-10.
//
// A counter-based generator is a function (key, counter) -> 128 random bits without state (Salmon et al. 2011,
// "Parallel random numbers: as easy as 1, 2, 3"). So a number can be a function of what it is for: the bit that drops
// a feature of a sentence is the same whatever shard, batch, padding or thread the sentence is processed in.

#include <array>
#include <span>
#include <utility>

#include "core/dtype.h"

namespace tapestry::core {

using PhiloxKey = std::array<std::uint32_t, 2>;
using PhiloxBlock = std::array<std::uint32_t, 4>;

/// Philox4x32-10: four random words for a counter. Bit-equal to Random123's.
PhiloxBlock philox(PhiloxBlock counter, PhiloxKey key);

/// Several counters side by side, word by word, so that the rounds become vector instructions. (32, because without
/// code of its own for the processor GCC unrolls a loop of 16 before it would vectorise it.)
struct PhiloxLanes {
  static constexpr int width = 32;
  std::uint32_t word[4][width];
};
/// The same function in every lane, in place.
void philox(PhiloxLanes& counters, PhiloxKey key);

/// A key from two numbers; every bit of it depends on every bit of both.
PhiloxKey philox_key(std::uint64_t seed, std::uint64_t stream);

/// A sequence of random numbers for initialisers and shuffles, drawn in f64, so that an f32 and an f64 model of one
/// seed agree up to rounding. Two sequences of different (seed, stream) are independent.
class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0);
  std::uint64_t bits();
  /// Uniform in [0, 1), a multiple of 2^-53.
  double uniform();
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Standard normal, by the transformation of Box and Muller (1958).
  double normal();
  /// Uniform in {0, ..., n-1}, without bias. Errors: n < 1.
  Index below(Index n);
  /// Puts the elements in random order; every order is equally likely (Fisher and Yates).
  template <class T>
  void shuffle(std::span<T> elements) {
    for (std::size_t left = elements.size(); left > 1; --left)
      std::swap(elements[left - 1], elements[static_cast<std::size_t>(below(static_cast<Index>(left)))]);
  }

 private:
  PhiloxKey key_;
  std::uint64_t blocks_ = 0;  // drawn so far
  PhiloxBlock block_{};
  int left_ = 0;      // halves of `block_` not given out
  double spare_ = 0;  // the second normal of a pair
  bool has_spare_ = false;
};

}  // namespace tapestry::core
