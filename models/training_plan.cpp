#include "models/training_plan.h"

namespace tapestry {
namespace {

std::size_t longest(const std::vector<Example>& examples) {
  std::size_t tokens = 0;
  for (const Example& example : examples) tokens = std::max({tokens, example.source.size(), example.target.size()});
  return tokens;
}

// Validation and test read whole sentences, whatever training cuts them to; with <eos>.
std::size_t longest(const Corpus& part) {
  std::size_t tokens = 0;
  for (const SentencePair& pair : part.pairs)
    tokens = std::max({tokens, pair.source.size() + 1, pair.target.size() + 1});
  return tokens;
}

void require_positions(Index most, std::size_t tokens) {
  if (tokens > static_cast<std::size_t>(most))
    throw UsageError(
        fmt::format("--max-positions: must hold the longest sentence, {} tokens with <eos>; given {}", tokens, most));
}

}  // namespace

std::vector<MicroBatch> micro_batches(const RunConfig& config, const std::vector<Example>& train, Index epoch) {
  if (config.batch_tokens > 0) return token_batches(train, config.batch_tokens, config.seed, epoch);
  return epoch_batches(train, static_cast<std::size_t>(config.batch), config.bucket, config.seed, epoch);
}

TrainingPlan::TrainingPlan(const Run& run, const RunData& data)
    : train(examples(data.train, run.source, run.target, run.config.length)),
      valid(examples(data.valid, run.source, run.target, run.config.length)) {
  const RunConfig& config = run.config;
  if (train.empty()) throw UsageError("training: at least one pair is needed; given none");
  if (config.patience > 0 && valid.empty())
    throw UsageError("--patience: needs a validation part; give --valid, or --patience 0");
  if (config.model == "transformer" && config.positions == "learned")
    require_positions(config.max_positions, std::max({longest(train), longest(data.valid), longest(data.test)}));
  const std::vector<MicroBatch> batches = micro_batches(config, train, 1);
  epoch_updates = (static_cast<Index>(batches.size()) - 1) / config.accumulate + 1;
  padding = padding_share(batches);
  updates = config.epochs * epoch_updates;
  if (config.updates > 0) updates = std::min(updates, config.updates);
  schedule = config.rates(updates);
}

}  // namespace tapestry
