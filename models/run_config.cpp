#include "models/run_config.h"

#include <nlohmann/json.hpp>

#include <fmt/ranges.h>

#include <cmath>

#include "models/builtin_corpus.h"
#include "models/segmenter.h"
#include "nn/attention_pooling.h"

namespace tapestry {

// What NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE does, which takes at most 63 fields.
#define TAPESTRY_EACH(DO, ...) NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(DO, __VA_ARGS__))
#define TAPESTRY_TEXT_AND_MODEL                                                                                        \
  preset, data, source, target, pairs, valid, test, valid_files, test_files, split_seed, reverse, tokenizer, subwords, \
      joint_vocabulary, length, min_count, model, embed, hidden, layers, dropout, width, feed_forward, heads, norm,    \
      final_norm, attention_bias, attention_dropout, feed_forward_dropout, tie, init, positions, max_positions, score, \
      normaliser, cell, bidirectional, residual
#define TAPESTRY_RECIPE                                                                                        \
  epochs, updates, batch, batch_tokens, accumulate, lr, schedule, warmup, initial_lr, lr_factor, beta1, beta2, \
      epsilon, weight_decay, label_smoothing, clip, divisor, bucket, seed, shards, low_memory, reference,      \
      validate_every, valid_bleu, patience, keep, checkpoint_every

static void to_json(nlohmann::json& nlohmann_json_j, const RunConfig& nlohmann_json_t) {
  TAPESTRY_EACH(NLOHMANN_JSON_TO, TAPESTRY_TEXT_AND_MODEL);
  TAPESTRY_EACH(NLOHMANN_JSON_TO, TAPESTRY_RECIPE);
}
static void from_json(const nlohmann::json& nlohmann_json_j, RunConfig& nlohmann_json_t) {
  TAPESTRY_EACH(NLOHMANN_JSON_FROM, TAPESTRY_TEXT_AND_MODEL);
  TAPESTRY_EACH(NLOHMANN_JSON_FROM, TAPESTRY_RECIPE);
}
#undef TAPESTRY_RECIPE
#undef TAPESTRY_TEXT_AND_MODEL
#undef TAPESTRY_EACH

ModelShape RunConfig::shape(Index source_vocabulary, Index target_vocabulary) const {
  ModelShape shape{model, source_vocabulary, target_vocabulary, embed, hidden, layers, dropout, cell, bidirectional};
  const bool book = init == "book";
  shape.transformer = {width,
                       feed_forward,
                       heads,
                       layers,
                       norm == "pre",
                       final_norm == "on" || (final_norm == "auto" && norm == "pre"),
                       attention_bias,
                       false,
                       dropout,
                       attention_dropout,
                       feed_forward_dropout,
                       book ? 1 : std::sqrt(0.5),
                       norm != "none",
                       residual};
  shape.tie = tie;
  shape.score = score;
  shape.normaliser = normaliser;
  shape.positions = {positions, max_positions};
  shape.embedding_spread = book ? 1 : 1 / std::sqrt(static_cast<double>(width));
  return shape;
}

nlohmann::json to_json(const RunConfig& config) {
  return nlohmann::json(config);
}

RunConfig config_from_json(nlohmann::json json) {
  require(json.is_object(), "it must be an object; it is {}", json.type_name());
  const nlohmann::json example = to_json(RunConfig());
  for (const char* later :
       {"low_memory", "positions", "max_positions", "score", "normaliser", "cell", "bidirectional", "residual"})
    json.emplace(later, example[later]);  // runs of older versions do not say it
  for (const auto& [key, value] : example.items()) {
    require(json.contains(key), "{} must be there; it is missing", key);
    require(std::string(json[key].type_name()) == value.type_name(), "{} must be of type {}; it is {}", key,
            value.type_name(), json[key].type_name());
  }
  RunConfig config = json.get<RunConfig>();
  // A number that is none of its field's, 1.5 layers, was rounded on the way.
  const nlohmann::json read = to_json(config);
  for (const auto& [key, value] : example.items())
    require(json[key] == read[key], "{} must be a whole number in range; it is {}", key, json[key].dump());
  return config;
}

namespace {

void usage(bool holds, const std::string& message) {
  if (!holds) throw UsageError(message);
}

void at_least(const char* option, Index value, Index least) {
  usage(value >= least, fmt::format("--{}: must be at least {}; given {}", option, least, value));
}

void at_most(const char* option, Index value, Index most) {
  usage(value <= most, fmt::format("--{}: must be at most {}; given {}", option, most, value));
}

void below(const char* option, double value, double limit) {
  usage(value >= 0 && value < limit, fmt::format("--{}: must lie in [0, {}); given {}", option, limit, value));
}

void above_zero(const char* option, double value) {
  usage(value > 0 && std::isfinite(value), fmt::format("--{}: must be above 0; given {}", option, value));
}

void validate_score(const RunConfig& config) {
  require_one_of("--score", config.score, score_names());
  require_one_of("--normaliser", config.normaliser, normaliser_names());
  if (config.model == "seq2seq") return;
  const bool two_directions = config.bidirectional || config.model == "bahdanau-paper";
  const Index keys = (two_directions ? 2 : 1) * config.hidden;
  require_pooling("--", config.score, config.normaliser, config.hidden, keys);
  usage(config.model != "transformer" || (config.score == "additive" && config.normaliser == "softmax"),
        fmt::format("--score and --normaliser: must be left out for the transformer, which decodes from a cache by "
                    "scaled-dot with softmax alone; given {} and {}",
                    config.score, config.normaliser));
}

void validate_recipe(const RunConfig& config) {
  at_least("epochs", config.epochs, 1);
  at_most("epochs", config.epochs, 1000000000);
  at_least("updates", config.updates, 0);
  at_least("batch", config.batch, 1);
  at_most("batch", config.batch, 1 << 24);
  at_least("batch-tokens", config.batch_tokens, 0);
  at_most("batch-tokens", config.batch_tokens, 1 << 24);
  at_least("accumulate", config.accumulate, 1);
  at_least("shards", config.shards, 1);
  require_one_of("--schedule", config.schedule, schedule_names());
  at_least("warmup", config.warmup, 1);
  above_zero("lr", config.lr);
  above_zero("lr-factor", config.lr_factor);
  usage(config.initial_lr >= 0 && config.initial_lr <= config.lr,
        fmt::format("--initial-lr: must lie in [0, {}], the peak rate; given {}", config.lr, config.initial_lr));
  below("beta1", config.beta1, 1);
  below("beta2", config.beta2, 1);
  above_zero("epsilon", config.epsilon);
  require_within("--weight-decay", config.weight_decay, 0, 1e30);
  below("label-smoothing", config.label_smoothing, 1);
  require_within("--clip", config.clip, 0, 1e30);
  require_within("--divisor", config.divisor, 0, 1e30);
  at_least("validate-every", config.validate_every, 0);
  at_least("valid-bleu", config.valid_bleu, 0);
  at_least("patience", config.patience, 0);
  at_least("keep", config.keep, 0);
  at_least("checkpoint-every", config.checkpoint_every, 0);
}

}  // namespace

void validate(const RunConfig& config) {
  at_least("pairs", config.pairs, 0);
  at_least("valid", config.valid, 0);
  at_least("test", config.test, 0);
  if (config.builtin()) {
    const auto at_most_builtin = [&](const char* option, Index value, std::size_t most) {
      usage(static_cast<std::size_t>(value) <= most,
            fmt::format("--{}: must be at most {} for the built-in corpus; given {}", option, most, value));
    };
    at_most_builtin("pairs", config.pairs, most_builtin_pairs);
    at_most_builtin("valid", config.valid, most_builtin_held_out);
    at_most_builtin("test", config.test, most_builtin_held_out);
  }
  Segmenter{config.tokenizer};
  at_least("subwords", config.subwords, 0);
  at_most("subwords", config.subwords, 1 << 20);
  usage(config.subwords == 0 || config.tokenizer != "spaces",
        "--subwords: must be learnt from plain text; it is tokenised already (tokenizer spaces)");
  at_least("min-count", config.min_count, 1);
  at_least("embed", config.embed, 1);
  at_least("hidden", config.hidden, 1);
  at_least("layers", config.layers, 1);
  usage(config.length == 0 || config.length >= 2,
        fmt::format("--length: must leave room for a word and <eos>, or be 0 for no limit; given {}", config.length));
  require_within("--dropout", config.dropout, 0, 1);
  usage(config.embed <= 1 << 16 && config.hidden <= 1 << 16 && config.layers <= 64 && config.shards <= 1024,
        fmt::format("--embed, --hidden, --layers, --shards: must be at most 65536, 65536, 64 and 1024; given {}, {}, "
                    "{} and {}",
                    config.embed, config.hidden, config.layers, config.shards));
  at_least("width", config.width, 1);
  at_least("ffn", config.feed_forward, 1);
  at_least("heads", config.heads, 1);
  usage(config.width <= 1 << 14 && config.feed_forward <= 1 << 16,
        fmt::format("--width and --ffn: must be at most 16384 and 65536; given {} and {}", config.width,
                    config.feed_forward));
  require_one_of("--positions", config.positions, position_kinds());
  at_least("max-positions", config.max_positions, 1);
  at_most("max-positions", config.max_positions, 1 << 16);
  const bool pairs_of_features = config.positions == "sinusoidal";
  usage(config.model != "transformer" ||
            ((!pairs_of_features || config.width % 2 == 0) && config.width % config.heads == 0),
        fmt::format("--width: must be {}a multiple of the heads; given {} and {} heads",
                    pairs_of_features ? "even, for the positions, and " : "", config.width, config.heads));
  require_within("--attention-dropout", config.attention_dropout, 0, 1);
  require_within("--ffn-dropout", config.feed_forward_dropout, 0, 1);
  require_one_of("--norm", config.norm, {"post", "pre", "none"});
  require_one_of("--final-norm", config.final_norm, {"auto", "on", "off"});
  require_one_of("--tie", config.tie, {"none", "output", "all"});
  usage(config.model != "transformer" || config.tie != "all" || config.one_vocabulary(),
        "--tie: all needs one vocabulary of both sides; give --joint-vocabulary or --subwords");
  require_one_of("--init", config.init, {"paper", "book"});
  validate_recipe(config);
  require_one_of("--model", config.model, model_names());
  validate_score(config);
  require_one_of("--cell", config.cell, cell_names());
  usage(config.source.empty() == config.target.empty(), "--source and --target: must be given together");
  usage(config.data.empty() || config.source.empty(), "--data: cannot be given with --source and --target");
}

}  // namespace tapestry
