#pragma once
// A text as one sequence of characters or of words, for a language model.

#include "models/decoding.h"
#include "models/vocabulary.h"

namespace tapestry {

/// char, word.
const std::vector<std::string>& text_unit_names();

/// The units of a line: its characters, white space as U+2581; or its words as `tokenize` has them.
/// Errors (UsageError): another name; Error: the line is not UTF-8.
Tokens text_units(const std::string& line, const std::string& unit);
/// The text that units spell; <eos> ends a line.
std::string spell(const TokenIds& units, const Vocabulary& vocabulary, const std::string& unit);

/// A text in two parts; each line ends with <eos>.
struct UnitText {
  Vocabulary vocabulary;  // of the training part; what occurs less than min_count times there is <unk>
  TokenIds train, held_out;
};
/// The last `share` of the units, but two at least, is held out. Errors: fewer than two would be left to train on.
UnitText unit_text(const std::vector<std::string>& lines, const std::string& unit, double share = 0.1,
                   std::size_t min_count = 1);

/// Mean -log p a unit of the held-out part, the first left out, if each were drawn by itself with the frequency that it
/// has in the training part, each of the vocabulary counted once more: what a model has to beat.
double unigram_loss(const UnitText& text);

}  // namespace tapestry
