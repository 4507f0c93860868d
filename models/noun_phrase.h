#pragma once
// The noun phrases of models/grammar.h, and what a verb must know of its subject.

#include "models/grammar.h"

namespace tapestry {

/// What a verb and an adjective agree with; `slot` is the column of lexicon::Auxiliary.
struct Agreement {
  int slot;
  bool feminine, plural;
};

Agreement agreement(const Subject& subject);
Agreement agreement(const NounPhrase& phrase);

/// The form of the adjective by gender and number, before a consonant.
lexicon::Text agree(const lexicon::Adjective& adjective, bool feminine, bool plural);

/// What becomes of "a" and "some" as an object: pas de, not any; des, any in questions.
enum class Indefinite { plain, negated, questioned };

Phrase noun_phrase(Derivation& derivation, const NounPhrase& phrase, Indefinite indefinite = Indefinite::plain);
Phrase subject_phrase(Derivation& derivation, const Subject& subject);
Phrase adjunct_phrase(Derivation& derivation, const Adjunct& adjunct);

}  // namespace tapestry
