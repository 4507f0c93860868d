#pragma once
// The interface of everything that translates: an encoder reads the source once, a decoder says one token a step.

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/mask.h"
#include "nn/positional_encoding.h"
#include "nn/recurrent.h"
#include "nn/transformer_layers.h"

namespace tapestry {

/// What the encoder left, and what the decoder carries from step to step. A sentence may be continued in several ways
/// at once: row b K + k is continuation k of sentence b, and the R = B K rows share what was encoded.
struct DecoderState {
  // Of each sentence; never repeated for its rows.
  Var memory;   // what attention reads: [B,S,D]; without attention the context [B,D] itself
  Var keys;     // the projected memory [B,S,A]
  Ids lengths;  // real source tokens [B]
  // Of each row.
  std::vector<RecurrentState> hidden;  // [R,H], bottom layer first
  Ids said;                            // [R,T], only where all that was said is read again at each step (uncached.h)
  Index beam = 1;                      // K
  bool attention = true;               // whether the weights of the steps are wanted
  Index position = 0;                  // steps made so far
  // Of a Transformer, for each layer of its decoder.
  std::vector<MultiHeadAttention::Memory> attended;  // keys and values of the memory [B,S,*]
  std::vector<core::KeyValueCache> caches;           // of the positions said, once `lineage` leads there
  core::Lineage lineage;

  Mask mask() const { return Mask::lengths(lengths); }
};

class EncoderDecoder {
 public:
  virtual ~EncoderDecoder() = default;

  /// source [B,S] padded, lengths [B].
  virtual DecoderState encode(const Ids& source, const Ids& lengths, const Pass& pass) const = 0;

  struct Step {
    Var features;   // [R,F], what the output layer makes its logits of
    Var attention;  // [R,S], the weights, before dropout; no value without attention, and maybe where the
                    // state wants none
  };
  /// Advances the state by the tokens `previous` [R].
  virtual Step step(const Ids& previous, DecoderState& state, const Pass& pass) const = 0;

  /// Makes row i continue what row parents[i] was. Only these sentences stay, in this order (absent: all; one may stay
  /// several times), each with as many rows as the others, and parents are of the sentence whose row they become. A
  /// model that carries more than `hidden` moves it here too.
  virtual void select(DecoderState& state, const Ids& parents, const Ids& sentences = {}) const;

  struct Forced {
    Var features;   // [B,T,F]
    Var attention;  // [B,T,S]; no value without attention
  };
  /// All steps with the tokens given, from a state with one row a sentence: inputs [B,T]. The attention weights are
  /// only stacked up if asked for.
  virtual Forced teacher_forced(const Ids& inputs, DecoderState state, const Pass& pass, bool attention = false) const;

  /// features [..,F] -> logits [..,V].
  virtual const Linear& output() const = 0;

  /// Steps that can be made at most: a search ends there.
  virtual Index most_steps() const { return std::numeric_limits<Index>::max(); }
};

/// The sizes of a model.
struct ModelShape {
  std::string model;  // one of model_names()
  Index source_vocabulary = 0, target_vocabulary = 0;
  Index embed = 32, hidden = 32, layers = 2;  // of the recurrent models
  double dropout = 0;
  std::string cell = "gru";
  bool bidirectional = false;  // the encoder
  TransformerOptions transformer = {};
  std::string tie = "none";     // embeddings of the Transformer: none, output (target and output), or all
  double embedding_spread = 1;  // their initial standard deviation
  std::string score = "additive", normaliser = "softmax";  // of Bahdanau's attention (nn/attention_pooling.h)
  PositionOptions positions = {};
};

const std::vector<std::string>& model_names();

/// Builds the model in `scope`. Errors: an unknown name, a size out of range.
std::unique_ptr<EncoderDecoder> make_model(const ModelShape& shape, const Scope& scope);

}  // namespace tapestry
