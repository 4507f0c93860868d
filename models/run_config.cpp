#include "models/run_config.h"

#include <nlohmann/json.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "models/builtin_corpus.h"

namespace tapestry {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunConfig, preset, data, source, target, pairs, valid, test, valid_files, test_files,
                                   split_seed, reverse, length, min_count, model, embed, hidden, layers, dropout, width,
                                   feed_forward, heads, norm, final_norm, attention_bias, attention_dropout,
                                   feed_forward_dropout, tie, init, epochs, batch, lr, schedule, clip, divisor, bucket,
                                   seed, shards, reference)

ModelShape RunConfig::shape(Index source_vocabulary, Index target_vocabulary) const {
  ModelShape shape{model, source_vocabulary, target_vocabulary, embed, hidden, layers, dropout};
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
                       book ? 1 : std::sqrt(0.5)};
  shape.tie = tie;
  shape.embedding_spread = book ? 1 : 1 / std::sqrt(static_cast<double>(width));
  return shape;
}

nlohmann::json to_json(const RunConfig& config) {
  return nlohmann::json(config);
}

RunConfig config_from_json(const nlohmann::json& json) {
  require(json.is_object(), "it must be an object; it is {}", json.type_name());
  const nlohmann::json example = to_json(RunConfig());
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

// Dive into Deep Learning, "Bahdanau Attention": the first 600 pairs, ten steps, and the loss it differentiates and
// clips: the sum over sentences of the mean over the ten steps.
RunConfig d2l(const std::string& model) {
  RunConfig config;
  config.model = model;
  config.pairs = 600;
  config.min_count = 2;
  config.length = 10;
  config.divisor = 10;
  config.epochs = 250;
  config.bucket = false;
  return config;
}

// "Transformer" of the same book.
RunConfig d2l_transformer() {
  RunConfig config = d2l("transformer");
  config.width = 32;
  config.feed_forward = 64;
  config.heads = 4;
  config.attention_bias = false;
  config.attention_dropout = 0.1;
  config.init = "book";
  config.epochs = 200;
  return config;
}

// The built-in corpus in half a minute on two cores. The paper's form has the attention that is worth looking at.
RunConfig quickstart(const std::string& model, Index hidden, Index epochs) {
  RunConfig config;
  config.model = model;
  config.embed = 64;
  config.hidden = hidden;
  config.layers = 1;
  config.pairs = 20000;
  config.valid = 500;
  config.test = 1000;
  config.epochs = epochs;
  config.schedule = "linear";
  return config;
}

// The whole of a file such as fra-eng.tsv, at the book's width and at one that suits its size.
RunConfig whole_file(const std::string& model) {
  RunConfig config = d2l(model);
  config.pairs = 0;
  config.length = 0;
  config.divisor = 0;
  config.valid = config.test = 500;
  config.bucket = true;
  config.epochs = 12;
  config.embed = config.hidden = 128;
  config.layers = 1;
  config.dropout = 0.3;
  config.lr = 0.002;
  config.schedule = "linear";
  return config;
}

// The two sizes that the bench times: that of small corpora, and the paper's base model (table 3).
RunConfig transformer(Index width, Index feed_forward, Index heads, Index layers, double dropout) {
  RunConfig config = whole_file("transformer");
  config.width = width;
  config.feed_forward = feed_forward;
  config.heads = heads;
  config.layers = layers;
  config.dropout = config.attention_dropout = config.feed_forward_dropout = dropout;
  config.tie = "all";
  return config;
}

const std::vector<std::pair<std::string, std::function<RunConfig()>>>& presets() {
  static const std::vector<std::pair<std::string, std::function<RunConfig()>>> list{
      {"quickstart", [] { return quickstart("bahdanau-paper", 64, 6); }},
      {"quickstart-book", [] { return quickstart("bahdanau", 96, 8); }},
      {"d2l-bahdanau", [] { return d2l("bahdanau"); }},
      {"d2l-seq2seq", [] { return d2l("seq2seq"); }},
      {"d2l-transformer", d2l_transformer},
      {"transformer-tiny", [] { return transformer(128, 256, 4, 4, 0.3); }},
      {"transformer-base", [] { return transformer(512, 2048, 8, 6, 0.1); }},
      {"whole-file", [] { return whole_file("bahdanau-paper"); }},
  };
  return list;
}

}  // namespace

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const auto& [name, make] : presets()) names.push_back(name);
  return names;
}

RunConfig preset(const std::string& wanted) {
  for (const auto& [name, make] : presets()) {
    if (name != wanted) continue;
    RunConfig config = make();
    config.preset = name;
    return config;
  }
  throw UsageError(fmt::format("preset: must be one of {}; given {}", fmt::join(preset_names(), ", "), wanted));
}

void validate(const RunConfig& config) {
  const auto usage = [](bool holds, const std::string& message) {
    if (!holds) throw UsageError(message);
  };
  const auto at_least = [&](const char* option, Index value, Index least) {
    usage(value >= least, fmt::format("--{}: must be at least {}; given {}", option, least, value));
  };
  const auto within = [&](const char* option, double value, double low, double high) {
    usage(value >= low && value <= high, fmt::format("--{}: must lie in [{}, {}]; given {}", option, low, high, value));
  };
  at_least("pairs", config.pairs, 0);
  at_least("valid", config.valid, 0);
  at_least("test", config.test, 0);
  if (config.builtin()) {
    const auto at_most = [&](const char* option, Index value, std::size_t most) {
      usage(static_cast<std::size_t>(value) <= most,
            fmt::format("--{}: must be at most {} for the built-in corpus; given {}", option, most, value));
    };
    at_most("pairs", config.pairs, most_builtin_pairs);
    at_most("valid", config.valid, most_builtin_held_out);
    at_most("test", config.test, most_builtin_held_out);
  }
  at_least("min-count", config.min_count, 1);
  at_least("epochs", config.epochs, 1);
  at_least("batch", config.batch, 1);
  at_least("embed", config.embed, 1);
  at_least("hidden", config.hidden, 1);
  at_least("layers", config.layers, 1);
  at_least("shards", config.shards, 1);
  usage(config.length == 0 || config.length >= 2,
        fmt::format("--length: must leave room for a word and <eos>, or be 0 for no limit; given {}", config.length));
  within("dropout", config.dropout, 0, 1);
  within("clip", config.clip, 0, 1e30);
  within("divisor", config.divisor, 0, 1e30);
  usage(config.lr > 0 && std::isfinite(config.lr), fmt::format("--lr: must be above 0; given {}", config.lr));
  usage(config.embed <= 1 << 16 && config.hidden <= 1 << 16 && config.layers <= 64 && config.shards <= 1024,
        fmt::format("--embed, --hidden, --layers, --shards: must be at most 65536, 65536, 64 and 1024; given {}, {}, "
                    "{} and {}",
                    config.embed, config.hidden, config.layers, config.shards));
  const auto one_of = [&](const char* option, const std::string& value, const std::vector<std::string>& known) {
    usage(std::find(known.begin(), known.end(), value) != known.end(),
          fmt::format("--{}: must be one of {}; given {}", option, fmt::join(known, ", "), value));
  };
  at_least("width", config.width, 1);
  at_least("feed-forward", config.feed_forward, 1);
  at_least("heads", config.heads, 1);
  usage(config.width <= 1 << 14 && config.feed_forward <= 1 << 16,
        fmt::format("--width and --feed-forward: must be at most 16384 and 65536; given {} and {}", config.width,
                    config.feed_forward));
  usage(config.model != "transformer" || (config.width % 2 == 0 && config.width % config.heads == 0),
        fmt::format("--width: must be even, for the positions, and a multiple of the heads; given {} and {} heads",
                    config.width, config.heads));
  within("attention-dropout", config.attention_dropout, 0, 1);
  within("ffn-dropout", config.feed_forward_dropout, 0, 1);
  one_of("norm", config.norm, {"post", "pre"});
  one_of("final-norm", config.final_norm, {"auto", "on", "off"});
  one_of("tie", config.tie, {"none", "output", "all"});
  one_of("init", config.init, {"paper", "book"});
  usage(config.schedule == "constant" || config.schedule == "linear",
        fmt::format("--schedule: must be constant or linear; given {}", config.schedule));
  one_of("model", config.model, model_names());
  usage(config.source.empty() == config.target.empty(), "--source and --target: must be given together");
  usage(config.data.empty() || config.source.empty(), "--data: cannot be given with --source and --target");
}

}  // namespace tapestry
