#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/tokenizer.h"

namespace tapestry {

/// Tokens and their ids. The first four ids are the control tokens; the words follow by falling frequency in the
/// training text, words of equal frequency in the order of their first appearance.
///
/// No text can speak for a control token: the literal word "<eos>" in a sentence is an unknown word.
class Vocabulary {
 public:
  static constexpr std::int32_t unk = 0;  ///< any word that is not known
  static constexpr std::int32_t pad = 1;  ///< fills a batch behind the end of a shorter sentence
  static constexpr std::int32_t bos = 2;  ///< what the decoder is given to begin with
  static constexpr std::int32_t eos = 3;  ///< ends every sentence

  /// Only the control tokens.
  Vocabulary();

  /// The words that occur at least `min_count` times in `sentences`. Throws Error for a token that a line of a file
  /// cannot hold (empty, with white space in it, or not UTF-8).
  Vocabulary(const std::vector<Tokens>& sentences, std::size_t min_count);

  /// Control tokens included.
  std::size_t size() const { return tokens_.size(); }

  /// One id per token, `unk` for those not known; no <bos> or <eos> is added.
  std::vector<std::int32_t> ids(const Tokens& tokens) const;

  /// Throws Error for an id outside [0, size()).
  const std::string& token(std::int32_t id) const;

  /// One token per id. Errors: those of token.
  Tokens tokens(const std::vector<std::int32_t>& ids) const;

  /// Writes one token a line, in the order of ids. Throws Error if that fails.
  void save(const std::string& path) const;

  /// Reads what `save` wrote. Throws Error (file:line) for anything else.
  static Vocabulary load(const std::string& path);

 private:
  /// Whether the token was new.
  bool insert(const std::string& token);

  std::vector<std::string> tokens_;
  std::unordered_map<std::string, std::int32_t> ids_;  // of all tokens but the control tokens
};

}  // namespace tapestry
