#pragma once
// A BLEU score means nothing without the tokenisation it was computed on. These are the two of sacreBLEU that the field
// quotes.

#include <string>
#include <string_view>

#include "models/tokenizer.h"

namespace tapestry {

enum class BleuTokenizer {
  none,        ///< the text is tokenised already; white space separates
  mteval_13a,  ///< NIST's mteval-v13a, sacreBLEU's default: punctuation apart, but not inside numbers
};

/// The name in a signature: "none" or "13a".
std::string_view name(BleuTokenizer tokenizer);

/// The tokens BLEU counts, equal to those of sacreBLEU 2 (Post, "A call for clarity in reporting BLEU scores", 2018).
Tokens bleu_tokens(std::string_view sentence, BleuTokenizer tokenizer);

}  // namespace tapestry
