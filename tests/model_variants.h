#pragma once
// The models, and the recurrent ones with other cells and encoders too.

#include <string>
#include <vector>

#include "models/encoder_decoder.h"

namespace tapestry {

/// The names of the models, and some that `variant` alone understands: "bahdanau/lstm", "seq2seq/rnn/both".
inline std::vector<std::string> model_variants() {
  std::vector<std::string> names = model_names();
  names.insert(names.end(), {"seq2seq/rnn", "seq2seq/lstm/both", "bahdanau/lstm", "bahdanau/rnn/both",
                             "bahdanau/gru/both", "bahdanau-paper/lstm"});
  return names;
}

/// `shape` with the model, the cell and the directions of its encoder that the name says.
inline ModelShape variant(const std::string& name, ModelShape shape) {
  const std::size_t slash = name.find('/'), second = name.find('/', slash + 1);
  shape.model = name.substr(0, slash);
  if (slash != std::string::npos) shape.cell = name.substr(slash + 1, second - slash - 1);
  shape.bidirectional = slash != std::string::npos && second != std::string::npos;
  return shape;
}

}  // namespace tapestry
