#include "models/label_task.h"

#include <algorithm>

#include "core/error.h"
#include "core/random.h"
#include "models/sequence_task.h"

namespace tapestry {
namespace {

constexpr Index deepest_nesting = 5, most_sequences = 10'000'000;

LabelledSequence parity(core::Random& random, Index length) {
  LabelledSequence sequence;
  bool odd = false;
  for (Index i = 0; i < length; ++i) {
    const bool one = random.below(2) == 1;
    odd ^= one;
    sequence.tokens.emplace_back(one ? "1" : "0");
  }
  sequence.labels = {odd ? "odd" : "even"};
  return sequence;
}

LabelledSequence depth(core::Random& random, Index length) {
  LabelledSequence sequence;
  Index open = 0, deepest = 0;
  for (Index i = 0; i < length; ++i) {
    const bool opens = open == 0 || (open < deepest_nesting && random.below(2) == 1);
    open += opens ? 1 : -1;
    deepest = std::max(deepest, open);
    sequence.tokens.emplace_back(opens ? "(" : ")");
  }
  sequence.labels = {std::to_string(deepest)};
  return sequence;
}

}  // namespace

const std::vector<std::string>& label_task_names() {
  static const std::vector<std::string> names{"parity", "depth"};
  return names;
}

std::vector<LabelledSequence> label_task(const LabelTask& task) {
  require_one_of("--task", task.name, label_task_names());
  require_within("--sequences", task.sequences, 1, most_sequences);
  require_lengths("--length", task.shortest, task.longest);
  core::Random random(task.seed);
  std::vector<LabelledSequence> sequences(static_cast<std::size_t>(task.sequences));
  for (LabelledSequence& sequence : sequences) {
    const Index length = task.shortest + random.below(task.longest - task.shortest + 1);
    sequence = task.name == "parity" ? parity(random, length) : depth(random, length);
  }
  return sequences;
}

std::vector<LabelledSequence> role_labels(const std::vector<AlignedPair>& pairs) {
  std::vector<LabelledSequence> sequences;
  for (const AlignedPair& pair : pairs) sequences.push_back({pair.source, pair.roles});
  return sequences;
}

std::vector<Example> label_examples(const std::vector<LabelledSequence>& sequences, const Vocabulary& tokens,
                                    const Vocabulary& labels) {
  std::vector<Example> examples;
  for (const LabelledSequence& sequence : sequences)
    examples.push_back({tokens.ids(sequence.tokens), labels.ids(sequence.labels)});
  return examples;
}

std::pair<Vocabulary, Vocabulary> label_vocabularies(const std::vector<LabelledSequence>& sequences) {
  std::vector<Tokens> tokens, labels;
  for (const LabelledSequence& sequence : sequences) {
    tokens.push_back(sequence.tokens);
    labels.push_back(sequence.labels);
  }
  return {Vocabulary(tokens, 1), Vocabulary(labels, 1)};
}

}  // namespace tapestry
