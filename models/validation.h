#pragma once
// A look at the model while it trains: how it does on the validation part.

#include <optional>

#include "models/evaluate.h"

namespace tapestry {

struct Validation {
  double loss = 0;             // nats per real target token, unsmoothed, the true tokens given
  std::size_t translated = 0;  // sentences, greedily; the rest is of these
  double bleu = 0;             // as `evaluate` has it
  std::string bleu_signature;
  double length_ratio = 0;  // tokens said to tokens of the references
  double distinct = 0;      // share of different translations, 0 to 1
  bool stuck = false;       // different sources, and one and the same translation for all
  struct Sample {
    std::string source, reference, translation;
  };
  std::vector<Sample> samples;  // a few, always of the same sentences
};

/// `examples` is the corpus in ids. Only the first `most` sentences are translated; 0: all. A model whose loss is not
/// finite translates nothing: there is the loss alone.
Validation run_validation(const Run& run, const Corpus& corpus, const std::vector<Example>& examples, Index most,
                          core::Workers& workers);

/// As stored in metrics.jsonl.
nlohmann::json to_json(const Validation& validation);

}  // namespace tapestry
