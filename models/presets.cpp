// The named recipes.

#include "models/run_config.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace tapestry {
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

// The built-in corpus in less than a minute on two cores. The paper's form has the attention that is worth looking at.
RunConfig quickstart(const std::string& model, Index epochs) {
  RunConfig config;
  config.model = model;
  config.layers = 1;
  config.pairs = 20000;
  config.valid = 500;
  config.test = 1000;
  config.epochs = epochs;
  config.schedule = "linear";
  return config;
}

RunConfig quickstart_recurrent(const std::string& model, Index hidden, Index epochs) {
  RunConfig config = quickstart(model, epochs);
  config.embed = 64;
  config.hidden = hidden;
  return config;
}

RunConfig quickstart_transformer() {
  RunConfig config = quickstart("transformer", 6);
  config.width = 64;
  config.feed_forward = 256;
  config.heads = 4;
  config.layers = 2;
  config.lr = 0.003;
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

// The Transformer by its paper's recipe (section 5): its schedule, Adam's constants, smoothing, no clipping.
RunConfig transformer(Index width, Index feed_forward, Index heads, Index layers, double dropout) {
  RunConfig config = whole_file("transformer");
  config.epochs = 30;
  config.schedule = "noam";
  config.beta2 = 0.98;
  config.epsilon = 1e-9;
  config.label_smoothing = 0.1;
  config.clip = 0;
  config.width = width;
  config.feed_forward = feed_forward;
  config.heads = heads;
  config.layers = layers;
  config.dropout = config.attention_dropout = config.feed_forward_dropout = dropout;
  config.tie = "all";
  config.joint_vocabulary = true;
  return config;
}

// The two sizes that the bench times: that of small corpora, and the paper's base model (table 3).
RunConfig transformer_tiny() {
  RunConfig config = transformer(128, 256, 4, 4, 0.3);
  config.warmup = 1000;  // the paper's 4,000 updates are many epochs of a small corpus
  return config;
}

RunConfig transformer_base() {
  return transformer(512, 2048, 8, 6, 0.1);
}

// The text of Multi30k by the recipe of "Good for Misconceived Reasons" (Wu et al. 2021).
RunConfig multi30k() {
  RunConfig config = transformer(128, 256, 4, 4, 0.3);
  config.attention_dropout = config.feed_forward_dropout = 0;
  config.tokenizer = "spaces";
  config.min_count = 1;
  config.valid = config.test = 0;
  config.epochs = 1000;
  config.updates = 8000;
  config.batch_tokens = 4096;
  config.accumulate = 2;
  config.schedule = "inverse-sqrt";
  config.lr = 0.005;
  config.warmup = 2000;
  config.initial_lr = 1e-7;
  config.epsilon = 1e-8;
  config.clip = 25;
  config.patience = 10;
  return config;
}

const std::vector<std::pair<std::string, std::function<RunConfig()>>>& presets() {
  static const std::vector<std::pair<std::string, std::function<RunConfig()>>> list{
      {"quickstart", [] { return quickstart_recurrent("bahdanau-paper", 64, 6); }},
      {"quickstart-book", [] { return quickstart_recurrent("bahdanau", 96, 8); }},
      {"quickstart-transformer", quickstart_transformer},
      {"d2l-bahdanau", [] { return d2l("bahdanau"); }},
      {"d2l-seq2seq", [] { return d2l("seq2seq"); }},
      {"d2l-transformer", d2l_transformer},
      {"transformer-tiny", transformer_tiny},
      {"transformer-base", transformer_base},
      {"multi30k", multi30k},
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
  require_one_of("preset", wanted, preset_names());
  const auto found =
      std::find_if(presets().begin(), presets().end(), [&](const auto& entry) { return entry.first == wanted; });
  RunConfig config = found->second();
  config.preset = wanted;
  return config;
}

}  // namespace tapestry
