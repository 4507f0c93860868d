#pragma once
// Names that training never showed, translated with and without copying: what `tapestry lab copy` shows.

#include "core/tensor.h"
#include "core/workers.h"
#include "models/tokenizer.h"

namespace tapestry {

struct CopyingOptions {
  Index pairs = 3000, epochs = 4, hidden = 48;
  std::uint64_t seed = 1;
};

/// How one model translates the test part. A name is right if it stands where the reference has it.
struct CopyingScore {
  double names = 0;      // share of the names that are right, 0 to 1
  double unknown = 0;    // share of the names at whose place there is <unk>
  double sentences = 0;  // share of the translations that are the reference
};

struct CopyingSample {
  Tokens source, reference, plain, copied;
  std::vector<double> generated;  // p_gen of each token of `copied`, and of the <eos> that ended it
  Tensor attention;               // as many rows; columns are source tokens and <eos>
};

struct CopyingExperiment {
  Index sentences = 0, names = 0;  // of the test part
  CopyingScore plain, pointer;     // attention alone, and the pointer-generator
  double gate_at_names = 0,
         gate_at_words = 0;            // mean p_gen where the reference has a name, and a word that the
                                       // source lacks (either will do for what both have, such as the full stop)
  std::vector<CopyingSample> samples;  // the whole test part
};

/// Trains Bahdanau's model in the paper's form and the pointer-generator upon it on the same sentences (name_task),
/// for as many updates. Words that fewer than one sentence in a hundred has, and so all names, are unknown to both.
/// Errors (UsageError): an option out of range.
CopyingExperiment copying_experiment(const CopyingOptions& options, core::Workers& workers);

}  // namespace tapestry
