#pragma once
// Verbs and their auxiliaries. English and French cut them at different places: "does ... buy" is one word in French,
// "bought" is two.

#include "models/noun_phrase.h"

namespace tapestry {

/// English: `auxiliary` is what negation follows and questions put first; `main` is the rest (buy; want to look for).
/// French: `finite` is what ne ... pas goes round; `rest` is the participle or the infinitive.
struct VerbGroup {
  Side auxiliary, main, finite, rest;

  VerbGroup(Side english_first, Side english_rest, Side french_first, Side french_rest)
      : auxiliary(with_role("auxiliary", std::move(english_first))),
        main(with_role("verb", std::move(english_rest))),
        finite(std::move(french_first)),
        rest(std::move(french_rest)) {}
};

/// `support`: a negation or a question needs an auxiliary, so that English has to add "do".
VerbGroup verb_group(Derivation& derivation, const lexicon::Verb& verb, lexicon::Tense tense, const Agreement& subject,
                     bool support);

/// The forms of be, in the present, the past (imparfait) and the future.
VerbGroup copula(Derivation& derivation, lexicon::Tense tense, const Agreement& subject);

}  // namespace tapestry
