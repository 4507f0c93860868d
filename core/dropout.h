#pragma once
// Dropout masks: one bit an element, each a function of what it masks (see core/random.h).

#include "core/random.h"
#include "core/tensor.h"

namespace tapestry::core {

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

/// y = x * scale where the mask keeps, else 0; the last axis of x holds the features. Also the backward of itself.
Tensor apply_mask(const Tensor& x, const BitMask& mask, double scale);

}  // namespace tapestry::core
