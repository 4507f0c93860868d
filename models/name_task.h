#pragma once
// Sentences about people and places whose names nobody can have learnt: what copying is for.

#include "models/corpus.h"

namespace tapestry {

/// English-French pairs, with one to three names each, often in another order on the other side:
///
///   vatu was invited by sorilo .    sorilo a invité vatu .
///
/// Names are two or three syllables of a consonant and a vowel, of which there are 427,500 altogether. One in four is
/// held out: a sentence has either only such names (`unseen`), or none. Equal arguments give equal pairs, and more
/// pairs begin with the fewer. Errors (UsageError): pairs outside [1, 1,000,000].
Corpus name_task(Index pairs, bool unseen, std::uint64_t seed);

}  // namespace tapestry
