#pragma once
// What comes next? A Transformer that is all decoder and reads nothing but what was said.

#include "models/decoding.h"
#include "models/encoder_stack.h"
#include "models/sequence_loss.h"

namespace tapestry {

struct LanguageModelShape {
  Index vocabulary = 0;
  TransformerOptions transformer = {};
  PositionOptions positions = {};
  bool tie = true;  // the output layer uses the embeddings, and has no bias
};

/// The decoder of the Transformer without attention to a source: encoder layers under a causal mask (Radford et al.
/// 2018, "Improving Language Understanding by Generative Pre-Training"). Parameters those of EncoderStack and
/// out.weight, unless it is tied with out.bias.
class LanguageModel {
 public:
  LanguageModel(const LanguageModelShape& shape, const Scope& scope);

  /// tokens [B,T] -> features [B,T,D]: those at t have seen the tokens up to t, and say token t + 1.
  Var operator()(const Ids& tokens, const Pass& pass) const { return stack_(tokens, Mask::causal(), pass); }
  /// One position, from a cache.
  Var step(const Ids& tokens, EncoderStack::State& state) const { return stack_.step(tokens, state); }
  /// features [..,D] -> logits [..,V].
  const Linear& output() const { return output_; }
  Index most_positions() const { return stack_.most_positions(); }

 private:
  EncoderStack stack_;
  Linear output_;
};

/// The loss of windows as `text_window` cuts them.
SequenceLoss language_model_loss(const LanguageModel& model, const Batch& batch, const Pass& pass);

/// `length` tokens from `begin` on as the source, and as the target the token that follows each of them.
Example text_window(const TokenIds& text, std::size_t begin, std::size_t length);
/// `count` windows of a text, each at a place that depends on (seed, update) and its number alone.
/// Errors: a text that is not longer than a window.
std::vector<Example> random_windows(const TokenIds& text, std::size_t length, Index count, std::uint64_t seed,
                                    Index update);
/// The whole text, window after window, so that each token but the first is a target once; the last may be shorter.
std::vector<Example> all_windows(const TokenIds& text, std::size_t length);

/// Goes on with `prompt`, which is not empty, by `count` tokens drawn as `draw` does from its number and place. The
/// model reads at most `context` tokens: when they are full, it begins anew with the later half of them.
TokenIds continue_text(const LanguageModel& model, const TokenIds& prompt, Index count, Index context,
                       const Sampling& sampling);

}  // namespace tapestry
