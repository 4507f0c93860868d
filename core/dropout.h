#pragma once
// Dropout masks: one bit an element, each a function of what it masks (see core/random.h).

#include <span>

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
/// The features of a position start with the one that `first_features` has for it, a multiple of 8; without, with 0.
BitMask dropout_mask(Index sentences, Index positions, Index features, double p, const DropoutKey& key,
                     std::span<const Index> first_features = {});

/// What is kept is scaled by 1 / (1 - p), so that expectations stay.
inline double dropout_scale(double p) {
  return p < 1 ? 1 / (1 - p) : 0;
}

/// One row of n features: y = x * scale where its bits keep, else 0. y may be x.
template <class T>
void drop_row(Index n, const std::uint8_t* bits, T scale, const T* x, T* y);

/// y = x * scale where the mask keeps, else 0; the last axis of x holds the features. Also the backward of itself.
Tensor apply_mask(const Tensor& x, const BitMask& mask, double scale);

/// y = max(y, 0), in place; scaled where the mask keeps, else 0, unless the mask is empty.
void relu_dropout(const Tensor& y, const BitMask& mask, double scale);
/// The gradient by what y was made of: dy * scale where y > 0, else 0.
Tensor relu_dropout_backward(const Tensor& dy, const Tensor& y, double scale);

}  // namespace tapestry::core
