#pragma once
// A decoder that remembers nothing but what was said: the slow and obvious one.

#include "models/encoder_decoder.h"

namespace tapestry {

/// Each step of it is the last one of `teacher_forced` over all that has been said, so the cost of a step grows with
/// its position. Otherwise it is the model it is made of, and every way of decoding works with it: tests compare the
/// two, and the benchmark shows what carrying a state, or keys and values, is worth.
class Uncached : public EncoderDecoder {
 public:
  explicit Uncached(const EncoderDecoder& model) : model_(model) {}

  DecoderState encode(const Ids& source, const Ids& lengths, const Pass& pass) const override {
    return model_.encode(source, lengths, pass);
  }
  Step step(const Ids& previous, DecoderState& state, const Pass& pass) const override;
  void select(DecoderState& state, const Ids& parents, const Ids& sentences = {}) const override;
  const Linear& output() const override { return model_.output(); }
  Index most_steps() const override { return model_.most_steps(); }

 private:
  const EncoderDecoder& model_;
};

}  // namespace tapestry
