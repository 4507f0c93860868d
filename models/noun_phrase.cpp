#include "models/noun_phrase.h"

#include "models/verb_group.h"

namespace tapestry {

using lexicon::Adjective;
using lexicon::Determiner;
using lexicon::Text;

namespace {

bool adjective_first(const NounPhrase& phrase) {
  return phrase.adjective && phrase.adjective->before_noun;
}

Text noun_form(const NounPhrase& phrase) {
  return phrase.plural ? phrase.noun->french_plural : phrase.noun->french;
}

/// The adjective's form beside its noun: un bel oiseau, un vieil ami.
Text adjective_form(const NounPhrase& phrase) {
  const Adjective& adjective = *phrase.adjective;
  const bool special = !phrase.plural && !phrase.noun->feminine && !adjective.before_vowel.empty() &&
                       starts_with_vowel(phrase.noun->french);
  return special ? adjective.before_vowel : agree(adjective, phrase.noun->feminine, phrase.plural);
}

/// The French word right after the determiner, on which its form depends.
Text word_after_determiner(const NounPhrase& phrase) {
  return adjective_first(phrase) ? adjective_form(phrase) : noun_form(phrase);
}

Text determiner_form(const NounPhrase& phrase) {
  const Determiner& d = *phrase.determiner;
  const bool feminine = phrase.noun->feminine;
  if (phrase.plural) return feminine ? d.feminine_plural : d.masculine_plural;
  if (starts_with_vowel(word_after_determiner(phrase))) return feminine ? d.feminine_vowel : d.masculine_vowel;
  return feminine ? d.feminine : d.masculine;
}

Phrase determiner_phrase(Derivation& derivation, const NounPhrase& phrase, Indefinite indefinite) {
  Text english = phrase.plural ? phrase.determiner->english_plural : phrase.determiner->english;
  Text french = determiner_form(phrase);
  require(!english.empty(), "noun_phrase: the determiner must have the number of its noun; {} given",
          phrase.plural ? phrase.noun->english_plural : phrase.noun->english);
  if (is_indefinite(phrase)) {
    if (phrase.plural && indefinite != Indefinite::plain) english = "any";
    // il n'a pas de chat; de belles fleurs
    if (indefinite == Indefinite::negated || (phrase.plural && adjective_first(phrase))) french = "de";
  }
  return derivation.phrase(english, french);
}

/// who sings, qui chante; that he sells, qu'il vend.
Phrase relative_phrase(Derivation& derivation, const RelativeClause& clause, const NounPhrase& antecedent) {
  if (clause.pronoun) {
    const Subject subject{clause.pronoun, {}, {}};
    const Phrase that = with_role("relative", derivation.phrase("that", "que")),
                 who = subject_phrase(derivation, subject);
    const VerbGroup verb = verb_group(derivation, *clause.verb, lexicon::present, agreement(subject), false);
    derivation.combine(clause.verb->english, antecedent.noun->english);
    return {chain(that.english, who.english, verb.main), chain(that.french, who.french, verb.finite)};
  }
  const Phrase who = with_role("relative", derivation.phrase("who", "qui"));
  const VerbGroup verb = verb_group(derivation, *clause.verb, lexicon::present, agreement(antecedent), false);
  Phrase object;
  if (clause.object) {
    derivation.combine(clause.verb->english, clause.object->noun->english);
    object = with_role("object", noun_phrase(derivation, *clause.object));
  }
  return {chain(who.english, verb.main, object.english), chain(who.french, verb.finite, object.french)};
}

}  // namespace

Agreement agreement(const NounPhrase& phrase) {
  return {phrase.plural ? 4 : 1, phrase.noun->feminine, phrase.plural};
}

Agreement agreement(const Subject& subject) {
  if (subject.noun) return agreement(*subject.noun);
  if (subject.pronoun) {
    const int slot = subject.pronoun->slot;
    return {slot, subject.pronoun->feminine, slot == 2 || slot == 4};
  }
  bool feminine = true;  // one man makes them all masculine
  for (const lexicon::Name* name : subject.names) feminine = feminine && name->feminine;
  const bool plural = subject.names.size() > 1;
  return {plural ? 4 : 1, feminine, plural};
}

Text agree(const Adjective& adjective, bool feminine, bool plural) {
  if (plural) return feminine ? adjective.feminine_plural : adjective.masculine_plural;
  return feminine ? adjective.feminine : adjective.masculine;
}

bool is_indefinite(const NounPhrase& phrase) {
  return !phrase.owner && phrase.determiner->english_plural == "some";
}

bool elides_after_de(const NounPhrase& phrase) {
  return is_indefinite(phrase) && starts_with_vowel(word_after_determiner(phrase));
}

Phrase noun_phrase(Derivation& derivation, const NounPhrase& phrase, Indefinite indefinite) {
  Phrase determiner, owner, adjective, of, relative;
  if (phrase.owner) {  // mary's [red] [car]: la [voiture] [rouge] de marie
    const int mark = derivation.mark();
    determiner = {words(phrase.owner->possessive, {mark}), words(phrase.plural           ? "les"
                                                                 : phrase.noun->feminine ? "la"
                                                                                         : "le",
                                                                 {mark})};
    owner.french = chain(words("de", {mark}), words(phrase.owner->french, {mark}));
  } else {
    determiner = determiner_phrase(derivation, phrase, indefinite);
  }
  determiner = with_role("determiner", std::move(determiner));
  if (phrase.adjective) {
    adjective = with_role("adjective", derivation.phrase(phrase.adjective->english, adjective_form(phrase)));
    derivation.combine(phrase.adjective->english, phrase.noun->english);
  }
  const Phrase noun =
      derivation.phrase(phrase.plural ? phrase.noun->english_plural : phrase.noun->english, noun_form(phrase));
  if (phrase.of) {
    const Phrase link = with_role("preposition", derivation.phrase("of", "de")),
                 whole = with_role("complement", noun_phrase(derivation, *phrase.of));
    of = {chain(link.english, whole.english), chain(link.french, whole.french)};
  }
  if (phrase.relative) relative = relative_phrase(derivation, *phrase.relative, phrase);
  const Phrase none;
  const Phrase& before = adjective_first(phrase) ? adjective : none;
  const Phrase& after = adjective_first(phrase) ? none : adjective;
  return {chain(determiner.english, adjective.english, noun.english, of.english, relative.english),
          chain(determiner.french, before.french, noun.french, after.french, of.french, owner.french, relative.french)};
}

Phrase subject_phrase(Derivation& derivation, const Subject& subject) {
  if (subject.noun) return with_role("subject", noun_phrase(derivation, *subject.noun));
  if (subject.pronoun)
    return with_role("subject", derivation.phrase(subject.pronoun->english, subject.pronoun->french));
  Phrase all;
  for (const lexicon::Name* name : subject.names) {
    const Phrase link = all.english.empty() ? Phrase{} : with_role("conjunction", derivation.phrase("and", "et"));
    const Phrase next = with_role("subject", derivation.phrase(name->english, name->french));
    all = {chain(all.english, link.english, next.english), chain(all.french, link.french, next.french)};
  }
  return all;
}

Phrase adjunct_phrase(Derivation& derivation, const Adjunct& adjunct) {
  const Phrase link =
      with_role("preposition", derivation.phrase(adjunct.preposition->english, adjunct.preposition->french));
  const Phrase noun =
      with_role("complement", adjunct.name ? derivation.phrase(adjunct.name->english, adjunct.name->french)
                                           : noun_phrase(derivation, adjunct.noun));
  return {chain(link.english, noun.english), chain(link.french, noun.french)};
}

}  // namespace tapestry
