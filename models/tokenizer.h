#pragma once
// From a line of text to the tokens a model sees, and back.

#include <string>
#include <string_view>
#include <vector>

namespace tapestry {

/// The tokens of one sentence, in order.
using Tokens = std::vector<std::string>;

/// Splits a line as the book does (Zhang et al., Dive into Deep Learning, section "Machine Translation and the
/// Dataset"): white space of any kind separates, letters become small, and each of `, . ! ?` starts a token of its own:
/// "Go on, Élise!" gives `go on , élise !`. Only what comes before such a sign is cut off: "3.5" gives `3 .5`.
///
/// Scripts without spaces need no switch: every character that is_cjk calls so is one token, wherever it stands, and
/// what lies between such characters stays a word: "我叫Tom。" gives `我 叫 tom 。`.
///
/// Zero-width spaces and byte order marks separate too. Accents are not composed: é and e + U+0301 are different
/// tokens. A blank line has no tokens. Throws Error if the text is not UTF-8.
Tokens tokenize(std::string_view text);

/// Joins tokens by single spaces, none beside a character of a script without spaces.
std::string detokenize(const Tokens& tokens);

/// The tokens with single spaces between them.
std::string spaced(const Tokens& tokens);

/// The words of text that was cut into pieces in subword-nmt's form: "@@" ends a piece whose word goes on, `play@@
/// house` gives `playhouse`. A word that the last piece leaves open ends there.
Tokens join_pieces(const Tokens& pieces);

/// The text that SentencePiece's pieces spell: U+2581 stands for a space, `▁play house` gives `playhouse`. Without
/// spaces at its ends, or several in a row.
std::string join_subwords(const Tokens& pieces);

}  // namespace tapestry
