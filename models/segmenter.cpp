#include "models/segmenter.h"

#include "core/error.h"
#include "models/utf8.h"

namespace tapestry {

const std::vector<std::string>& tokenizer_names() {
  static const std::vector<std::string> names{"book", "spaces"};
  return names;
}

Segmenter::Segmenter(const std::string& tokenizer) : book_(tokenizer == "book") {
  require_one_of("--tokenizer", tokenizer, tokenizer_names());
}

Segmenter::Segmenter(Subwords subwords) : subwords_(std::make_shared<const Subwords>(std::move(subwords))) {}

Tokens Segmenter::split(std::string_view line) const {
  if (subwords_) return subwords_->split(line);
  if (book_) return tokenize(line);
  require_utf8(line);
  return split_words(line);
}

Tokens Segmenter::words(const Tokens& tokens) const {
  if (subwords_) return split_words(join_subwords(tokens));
  return book_ ? tokens : join_pieces(tokens);
}

std::string Segmenter::join(const Tokens& tokens) const {
  if (subwords_) return join_subwords(tokens);
  return book_ ? detokenize(tokens) : spaced(join_pieces(tokens));
}

}  // namespace tapestry
