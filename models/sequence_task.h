#pragma once
// Tasks that a model of sequences has to be able to learn, and whose true alignment is known: sequences of numbers to
// be copied, reversed or sorted.

#include <string>
#include <vector>

#include "core/dtype.h"
#include "models/synchronous.h"

namespace tapestry {

/// copy, reverse, sort.
const std::vector<std::string>& sequence_task_names();

/// What is drawn: lengths and numbers are uniform, and independent of each other.
struct SequenceTask {
  std::string name;
  Index pairs = 50000;
  Index shortest = 1, longest = 25;  // words of a sequence
  std::uint64_t seed = 1;            // parts that are to differ need seeds that differ
};

/// Pairs whose source is a sequence of the words 0, 1, ..., 49, with the gold links:
///   copy     target i is source i
///   reverse  target i is source n - 1 - i
///   sort     in ascending order; equal numbers stay in the order of the source
/// More pairs of the same seed begin with the fewer, and a seed gives all tasks the same sources.
/// Errors (UsageError): an unknown name; pairs outside [1, 10,000,000]; lengths not 1 <= shortest <= longest <= 1000.
std::vector<AlignedPair> sequence_task(const SequenceTask& task);

/// Errors (UsageError): lengths that no task has, not 1 <= shortest <= longest <= 1000.
void require_lengths(const std::string& option, Index shortest, Index longest);

}  // namespace tapestry
