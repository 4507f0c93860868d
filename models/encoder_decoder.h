#pragma once
// The interface of everything that translates: an encoder reads the source once, a decoder says one token a step.

#include <memory>
#include <string>
#include <vector>

#include "core/mask.h"
#include "nn/linear.h"
#include "nn/pass.h"

namespace tapestry {

/// What the encoder left, and what the decoder carries from step to step.
struct DecoderState {
  std::vector<Var> hidden;  // [B,H], bottom layer first
  Var memory;               // what attention reads: [B,S,D]; without attention the context [B,D] itself
  Var keys;                 // the projected memory [B,S,A]
  Mask mask;                // the real source positions
  Index position = 0;       // steps made so far
};

class EncoderDecoder {
 public:
  virtual ~EncoderDecoder() = default;

  /// source [B,S] padded, lengths [B].
  virtual DecoderState encode(const Ids& source, const Ids& lengths, const Pass& pass) const = 0;

  struct Step {
    Var features;   // [B,F], what the output layer makes its logits of
    Var attention;  // [B,S], the weights, before dropout; no value without attention
  };
  /// Advances the state by the tokens `previous` [B].
  virtual Step step(const Ids& previous, DecoderState& state, const Pass& pass) const = 0;

  struct Forced {
    Var features;   // [B,T,F]
    Var attention;  // [B,T,S]; no value without attention
  };
  /// All steps with the tokens given: inputs [B,T]. The attention weights are only stacked up if asked for.
  virtual Forced teacher_forced(const Ids& inputs, DecoderState state, const Pass& pass, bool attention = false) const;

  /// features [..,F] -> logits [..,V].
  virtual const Linear& output() const = 0;
};

/// The sizes of a model.
struct ModelShape {
  std::string model;  // one of model_names()
  Index source_vocabulary = 0, target_vocabulary = 0;
  Index embed = 32, hidden = 32, layers = 2;
  double dropout = 0;
};

const std::vector<std::string>& model_names();

/// Builds the model in `scope`. Errors: an unknown name, a size out of range.
std::unique_ptr<EncoderDecoder> make_model(const ModelShape& shape, const Scope& scope);

}  // namespace tapestry
