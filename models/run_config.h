#pragma once
// Everything a training run is determined by, and the presets.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "models/encoder_decoder.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"

namespace tapestry {

/// A run repeated with the same configuration gives the same bytes. Threads are not part of it.
struct RunConfig {
  std::string preset;

  // Text: a tab-separated file, a pair of aligned files, or (neither) the built-in corpus.
  std::string data, source, target;
  Index pairs = 0;                                   // the first so many; 0: all, of the built-in corpus 20,000
  Index valid = 0, test = 0;                         // source sentences drawn for these parts ...
  std::vector<std::string> valid_files, test_files;  // ... or files of the same kind as the training text
  std::uint64_t split_seed = 1;                      // of the drawing; of the built-in corpus as a whole
  bool reverse = false;
  std::string tokenizer = "book";  // or "spaces": the text is tokenised already; see models/segmenter.h
  Index subwords = 0;              // pieces learnt from the plain training text; 0: words, or whatever the text has
  bool joint_vocabulary = false;   // one for both sides; that of subwords always is
  Index length = 0;                // tokens with <eos>; longer sentences are cut; 0: no limit
  Index min_count = 1;             // rarer words are <unk>

  // Model.
  std::string model = "bahdanau";
  Index embed = 32, hidden = 32;  // of the recurrent models
  Index layers = 2;
  double dropout = 0.1;
  Index width = 128, feed_forward = 256, heads = 4;  // of the Transformer, and so the rest
  std::string norm = "post";                         // of each sublayer; or "pre", or "none"
  std::string final_norm = "auto";                   // after each stack: "on", "off", or "auto": on with pre-norm
  bool attention_bias = true;
  double attention_dropout = 0, feed_forward_dropout = 0;
  std::string tie = "none";    // shared embeddings: "output" (target and output) or "all" (the source's too)
  std::string init = "paper";  // or "book"; see shape()
  std::string score = "additive", normaliser = "softmax";  // of Bahdanau's attention: score_names(), normaliser_names()

  // Recipe.
  Index epochs = 10;
  Index updates = 0;       // at most so many; 0: what the epochs give
  Index batch = 64;        // sentences of a micro-batch, unless ...
  Index batch_tokens = 0;  // ... it is cut by tokens, padding counted, of the larger side; 0: it is not
  Index accumulate = 1;    // micro-batches of an update
  double lr = 0.005;
  std::string schedule = "constant";  // one of schedule_names()
  Index warmup = 4000;
  double initial_lr = 0, lr_factor = 1;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  // of Adam
  double weight_decay = 0;                            // decoupled
  double label_smoothing = 0;
  double clip = 1;     // largest norm of the gradient; 0: none
  double divisor = 0;  // what the summed loss is divided by; 0: the update's real target tokens
  bool bucket = true;  // batches of similar length
  std::uint64_t seed = 1;
  Index shards = 2;
  bool low_memory = false;  // shards in turn, with one buffer of gradients: it rounds differently
  bool reference = false;   // compute with the composed twins of the fused ops

  // Validation and checkpoints.
  Index validate_every = 0;    // updates; 0: every epoch
  Index valid_bleu = 0;        // sentences that a validation translates; 0: all
  Index patience = 0;          // validations without a lower loss after which training ends; 0: it does not
  Index keep = 10;             // epoch checkpoints
  Index checkpoint_every = 0;  // updates; 0: every epoch

  // Of the recurrent models.
  std::string cell = "gru";    // one of cell_names()
  bool bidirectional = false;  // the encoder; that of bahdanau-paper always is
  // Of the Transformer: how it knows where a word stands, and the rows of a learned table; see Positions.
  std::string positions = "sinusoidal";
  Index max_positions = 512;
  bool residual = true;  // a connection round each sublayer

  bool one_vocabulary() const { return joint_vocabulary || subwords > 0; }
  bool builtin() const { return data.empty() && source.empty(); }
  AdamOptions adam() const { return {beta1, beta2, epsilon, weight_decay, true}; }
  /// The schedule of a training of so many updates.
  Schedule rates(Index of_updates) const { return {schedule, lr, of_updates, warmup, initial_lr, lr_factor, width}; }
  /// The Transformer's matrices start Xavier-uniform. By init "paper" (as Transformers are commonly trained) embeddings
  /// start from N(0, 1 / width) and query, key and value projections with gain 1 / sqrt(2); by "book" (Dive into Deep
  /// Learning) from N(0, 1) and with gain 1.
  ModelShape shape(Index source_vocabulary, Index target_vocabulary) const;
};

std::vector<std::string> preset_names();
/// Errors (UsageError): unknown; the message lists the known ones.
RunConfig preset(const std::string& name);

/// Errors (UsageError): a value out of range, options that exclude each other.
void validate(const RunConfig& config);

/// As stored in config.json. Errors of reading: `key must be ...`, a key is missing or of another kind.
nlohmann::json to_json(const RunConfig& config);
RunConfig config_from_json(nlohmann::json json);

}  // namespace tapestry
