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
#include "core/memory.h"

namespace tapestry::core {

using PhiloxKey = std::array<std::uint32_t, 2>;
using PhiloxBlock = std::array<std::uint32_t, 4>;

/// Philox4x32-10: four random words for a counter. Bit-equal to Random123's.
PhiloxBlock philox(PhiloxBlock counter, PhiloxKey key);

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

/// What a dropout mask is a function of, beside the position and the feature of the element itself.
struct DropoutKey {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;          // the layer's own number (and the head's)
  std::uint32_t update = 0;          // which step of the optimiser
  std::uint32_t first_sentence = 0;  // the place of the batch's first sentence among all of this update
  std::uint32_t first_position = 0;  // the place of the batch's first position in its sentence
};

/// One bit an element, 1 = keep; every row of `features` starts on a byte of its own (bit i of byte j: feature 8j + i).
struct BitMask {
  Buffer buffer;
  Index rows = 0, features = 0;

  Index row_bytes() const { return (features + 7) / 8; }
  const std::uint8_t* row(Index i) const {
    return reinterpret_cast<const std::uint8_t*>(buffer.data()) + i * row_bytes();
  }
};

/// The mask of [sentences, positions, features], rows = sentences * positions: an element is kept if its 16 random bits
/// are at least p * 2^16. They are eight to a Philox block, whose counter is (feature / 8, position, sentence, update).
BitMask dropout_mask(Index sentences, Index positions, Index features, double p, const DropoutKey& key);

}  // namespace tapestry::core
