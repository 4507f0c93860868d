#pragma once
// How a run turns a line of text into tokens, and tokens into text again.

#include <memory>
#include <string>
#include <string_view>

#include "models/subwords.h"
#include "models/tokenizer.h"

namespace tapestry {

class Segmenter {
 public:
  /// `book`: splits words from punctuation and makes letters small, as `tokenize` does; for raw text.
  /// `spaces`: white space separates, and nothing is changed; for text that is tokenised already. Where words are cut
  /// into pieces with the joiner "@@" of subword-nmt, they are put together again on output.
  /// Errors (UsageError): another name.
  explicit Segmenter(const std::string& tokenizer = "book");

  /// Raw text, cut into the pieces of a joint vocabulary.
  explicit Segmenter(Subwords subwords);

  /// The tokens that a model sees. Errors: the text is not UTF-8.
  Tokens split(std::string_view line) const;

  /// The text that tokens make, for people.
  std::string join(const Tokens& tokens) const;

  /// The words that tokens make, for scores: pieces are put together.
  Tokens words(const Tokens& tokens) const;

  /// Nothing unless made from them.
  const Subwords* subwords() const { return subwords_.get(); }

 private:
  bool book_ = false;
  std::shared_ptr<const Subwords> subwords_;
};

/// The tokenizers by name.
const std::vector<std::string>& tokenizer_names();

}  // namespace tapestry
