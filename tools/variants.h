#pragma once
// Which choices matter? Systems of the course that differ in one thing, trained at an equal budget.

#include <functional>
#include <string>
#include <vector>

#include "core/workers.h"
#include "models/run_config.h"

namespace tapestry {

/// A base recipe with one thing changed.
struct Variant {
  std::string name, base, description;
  std::function<void(RunConfig&)> change;
};
/// All of them, those of a base together, the base itself first.
const std::vector<Variant>& variants();

struct VariantsOptions {
  Index updates = 400, seeds = 3, pairs = 20'000;
};

/// What became of one training.
struct VariantOutcome {
  double loss = 0;     // nats per target token of the test part
  double bleu = 0;     // of its greedy translations
  double seconds = 0;  // of training
  Index parameters = 0;
};
/// Trains the variant on the built-in corpus by this seed and scores it.
VariantOutcome run_variant(const Variant& variant, const VariantsOptions& options, std::uint64_t seed,
                           core::Workers& workers);

/// Mean of values and the half-width of its 95 % interval by Student's t; 0 for a single value. Needs 1 to 30 values.
struct Estimate {
  double mean = 0, half = 0;
};
Estimate estimate(const std::vector<double>& values);

}  // namespace tapestry
