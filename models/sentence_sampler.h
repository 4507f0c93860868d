#pragma once
// Draws meanings for models/grammar.h: who does what, within the classes of the lexicon, in sentences of 5 to 15 words.

#include <cstdint>

#include "models/grammar.h"

namespace tapestry {

/// Random choices by SplitMix64 (Steele, Lea & Flood 2014), the same on every machine, unlike the distributions of the
/// standard library.
class Chooser {
 public:
  explicit Chooser(std::uint64_t seed) : state_(seed) {}

  /// Uniform in [0, n); n at most 2^32.
  std::size_t below(std::size_t n);
  /// True `percent` times in a hundred.
  bool chance(std::size_t percent) { return below(100) < percent; }

  /// One of the entries that pass the test, each as likely as the other. Throws Error if none does.
  template <class Entry, class Test>
  const Entry& pick(std::span<const Entry> entries, Test test) {
    std::size_t passing = 0;
    for (const Entry& entry : entries) passing += test(entry);
    require(passing > 0, "pick: some entry must pass the test; {} tried", entries.size());
    std::size_t chosen = below(passing);
    for (const Entry& entry : entries)
      if (test(entry) && chosen-- == 0) return entry;
    fail("pick: unreachable");
  }
  template <class Entry>
  const Entry& pick(std::span<const Entry> entries) {
    return entries[below(entries.size())];
  }

 private:
  std::uint64_t state_;
};

/// A meaning of any length.
Sentence sample_meaning(Chooser& chooser);

/// A sentence of 5 to 15 English and at most 17 French words, punctuation included; others are drawn again.
AlignedPair sample_sentence(Chooser& chooser);

/// Within the limits of sample_sentence?
bool fits(const AlignedPair& pair);

}  // namespace tapestry
