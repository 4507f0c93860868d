#pragma once
// What a forward call must know beyond its inputs.

#include <cstdint>

#include "core/dtype.h"

namespace tapestry {

/// The last argument of a forward call. Training or evaluation is said, not remembered; the rest identifies the random
/// numbers of dropout, so that a Pass repeated is a mask repeated, whatever the shard or the thread.
struct Pass {
  bool training = false;
  std::uint64_t seed = 0;
  std::uint64_t update = 0;
  Index first_sentence = 0;  // index in the update of this shard's first sentence
};

}  // namespace tapestry
