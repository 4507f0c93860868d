#include "tools/variants.h"

#include <array>
#include <chrono>
#include <cmath>
#include <numeric>

#include "models/evaluate.h"
#include "models/fit.h"
#include "models/training_plan.h"

namespace tapestry {
namespace {

// The book's model and a small Transformer, each as its quickstart has it.
RunConfig base_config(const std::string& base) {
  return preset(base == "transformer" ? "quickstart-transformer" : "quickstart-book");
}

// As configured, without a run directory. Returns the seconds of training.
double train_in_memory(Run& run, const RunData& data, core::Workers& workers) {
  const RunConfig& config = run.config;
  const TrainingPlan plan(run, data);
  const Recipe recipe{plan.updates,
                      plan.schedule,
                      config.seed,
                      config.adam(),
                      {static_cast<std::size_t>(config.shards), config.divisor, config.clip}};
  const auto start = std::chrono::steady_clock::now();
  fit([&](const Batch& batch,
          const Pass& pass) { return sequence_loss(*run.model, batch, pass, config.label_smoothing); },
      *run.store, workers, recipe, [&](Index epoch) { return micro_batches(config, plan.train, epoch); });
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

const std::vector<Variant>& variants() {
  const auto same = [](RunConfig&) {};
  static const std::vector<Variant> list{
      {"bahdanau", "bahdanau", "GRU cells, additive score, softmax", same},
      {"rnn", "bahdanau", "plain recurrent cells", [](RunConfig& c) { c.cell = "rnn"; }},
      {"lstm", "bahdanau", "LSTM cells", [](RunConfig& c) { c.cell = "lstm"; }},
      {"bidirectional", "bahdanau", "the encoder reads in both directions",
       [](RunConfig& c) { c.bidirectional = true; }},
      {"fixed-context", "bahdanau", "no attention: one vector for the sentence",
       [](RunConfig& c) { c.model = "seq2seq"; }},
      {"dot", "bahdanau", "score q . k", [](RunConfig& c) { c.score = "dot"; }},
      {"scaled-dot", "bahdanau", "score q . k / sqrt(d)", [](RunConfig& c) { c.score = "scaled-dot"; }},
      {"general", "bahdanau", "score q W k", [](RunConfig& c) { c.score = "general"; }},
      {"gaussian", "bahdanau", "score: how near k is to q", [](RunConfig& c) { c.score = "gaussian"; }},
      {"network", "bahdanau", "score: a network of two layers", [](RunConfig& c) { c.score = "network"; }},
      {"cosine", "bahdanau", "score: the cosine of q and k", [](RunConfig& c) { c.score = "cosine"; }},
      {"relu", "bahdanau", "ReLU in place of softmax", [](RunConfig& c) { c.normaliser = "relu"; }},
      {"no-clip", "bahdanau", "gradients are not clipped", [](RunConfig& c) { c.clip = 0; }},
      {"transformer", "transformer", "post-norm, 4 heads, sinusoidal positions, falling rate", same},
      {"pre-norm", "transformer", "norms before the sublayers", [](RunConfig& c) { c.norm = "pre"; }},
      {"no-norm", "transformer", "no norms", [](RunConfig& c) { c.norm = "none"; }},
      {"no-residual", "transformer", "no residual connections", [](RunConfig& c) { c.residual = false; }},
      {"one-head", "transformer", "one head as wide as the model", [](RunConfig& c) { c.heads = 1; }},
      {"eight-heads", "transformer", "heads of 8", [](RunConfig& c) { c.heads = 8; }},
      {"learned-positions", "transformer", "a table of positions", [](RunConfig& c) { c.positions = "learned"; }},
      {"integer-positions", "transformer", "the position itself is added",
       [](RunConfig& c) { c.positions = "integers"; }},
      {"no-positions", "transformer", "no word knows where it stands", [](RunConfig& c) { c.positions = "none"; }},
      {"warm-up", "transformer", "the rate rises in the first quarter, then falls as 1 / sqrt(update), not evenly",
       [](RunConfig& c) {
         c.schedule = "inverse-sqrt";
         c.warmup = std::max<Index>(1, c.updates / 4);
       }},
      {"smoothing", "transformer", "label smoothing 0.1", [](RunConfig& c) { c.label_smoothing = 0.1; }},
      {"dropout-0.3", "transformer", "dropout 0.3 for 0.1", [](RunConfig& c) { c.dropout = 0.3; }},
  };
  return list;
}

VariantOutcome run_variant(const Variant& variant, const VariantsOptions& options, std::uint64_t seed,
                           core::Workers& workers) {
  RunConfig config = base_config(variant.base);
  config.pairs = options.pairs;
  config.valid = 0;
  config.test = 500;
  config.updates = config.epochs = options.updates;  // an epoch has at least one
  config.seed = seed;
  variant.change(config);
  validate(config);
  const RunData data = load_data(config);
  auto [source, target] = vocabularies(config, data);
  Run run(config, std::move(source), std::move(target));
  run.segmenter = data.segmenter;
  const double seconds = train_in_memory(run, data, workers);
  const Evaluation evaluation = evaluate(run, data.test, workers);
  return {evaluation.loss, evaluation.bleu.score, seconds, run.store->elements()};
}

Estimate estimate(const std::vector<double>& values) {
  // The 97.5 % points of Student's t for 1, 2, ... degrees of freedom.
  constexpr std::array student{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                               2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                               2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045};
  require(!values.empty() && values.size() <= student.size() + 1, "estimate: 1 to {} values are needed; given {}",
          student.size() + 1, values.size());
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  if (values.size() == 1) return {mean, 0};
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, student[values.size() - 2] * std::sqrt(squares / (count - 1) / count)};
}

}  // namespace tapestry
