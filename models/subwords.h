#pragma once
// Subwords by the SentencePiece library (Kudo and Richardson 2018): byte-pair encoding (Sennrich et al. 2016) learnt
// from plain text, so that no tokeniser of words is needed, and plain text comes back.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.h"
#include "models/tokenizer.h"

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace tapestry {

class Subwords {
 public:
  /// Whether the program is built with the library. Without it, making a Subwords throws UsageError, which says what to
  /// install.
  static bool available();

  /// Learns exactly so many pieces: every character of the text is one, the others are its most frequent merges. U+2581
  /// in a piece stands for a space. The same lines give the same model.
  /// Errors (UsageError): `--subwords: ...` more pieces than the text has merges for, or fewer than it has characters.
  static Subwords train(const std::vector<std::string>& lines, Index pieces);

  /// From the bytes of a model. Errors: `it must be a SentencePiece model; it is none`.
  explicit Subwords(std::string model);

  /// The bytes to store.
  const std::string& model() const { return model_; }
  /// All pieces, in the order of their ids in the model.
  const Tokens& pieces() const { return pieces_; }

  /// White space of any kind separates words; nothing else of the text is lost or changed, and `join_subwords` gives it
  /// back. What training did not show comes in tokens that are none of `pieces`. Errors: the text is not UTF-8.
  Tokens split(std::string_view text) const;

 private:
  std::string model_;
  std::shared_ptr<const sentencepiece::SentencePieceProcessor> processor_;
  Tokens pieces_;
};

}  // namespace tapestry
