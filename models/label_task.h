#pragma once
// Sequences whose labels are known: one label of the whole (N to 1), or one of each token (N to N).

#include "core/dtype.h"
#include "models/batch.h"
#include "models/synchronous.h"

namespace tapestry {

struct LabelledSequence {
  Tokens tokens, labels;  // one label, or as many as tokens
};

/// parity, depth.
const std::vector<std::string>& label_task_names();

struct LabelTask {
  std::string name;
  Index sequences = 1000;
  Index shortest = 1, longest = 20;  // tokens, each length as likely
  std::uint64_t seed = 1;
};

/// Sequences with one label each:
///   parity  of 0 and 1, each as likely: `odd` or `even`, the number of ones
///   depth   of ( and ), each as likely where both are possible: the deepest nesting, `1` to `5`; only what is open
///           is closed
/// Errors (UsageError): an unknown name; sequences outside [1, 10,000,000]; lengths not 1 <= shortest <= longest <=
/// 1000.
std::vector<LabelledSequence> label_task(const LabelTask& task);

/// The English sentences with the grammatical role of each word; see grammatical_roles().
std::vector<LabelledSequence> role_labels(const std::vector<AlignedPair>& pairs);

/// The sequences in ids; labels are words of a vocabulary like others.
std::vector<Example> label_examples(const std::vector<LabelledSequence>& sequences, const Vocabulary& tokens,
                                    const Vocabulary& labels);
/// The vocabularies of tokens and of labels.
std::pair<Vocabulary, Vocabulary> label_vocabularies(const std::vector<LabelledSequence>& sequences);

}  // namespace tapestry
