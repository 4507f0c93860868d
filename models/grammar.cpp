#include "models/grammar.h"

#include "models/verb_group.h"

namespace tapestry {

namespace {

/// est-ce que is what French has for the English inversion, so it translates the auxiliary that moved.
Side question_marker(const Side& auxiliary) {
  return auxiliary.empty() ? Side{} : words("est-ce que", auxiliary.front().marks);
}

Phrase optional_phrase(Derivation& derivation, const lexicon::Fixed* fixed) {
  return fixed ? derivation.phrase(fixed->english, fixed->french) : Phrase{};
}

struct Negation {
  Side english_not, english_never, ne, pas;
};

Negation negation(Derivation& derivation, Polarity polarity) {
  if (polarity == Polarity::affirmative) return {};
  const int mark = derivation.mark();
  if (polarity == Polarity::negative)
    return {with_role("negation", words("not", {mark})), {}, words("ne", {mark}), words("pas", {mark})};
  return {{}, with_role("negation", words("never", {mark})), words("ne", {mark}), words("jamais", {mark})};
}

/// very old; as old as the church; older than the church, or more famous than it.
Phrase quality_phrase(Derivation& derivation, const Quality& quality, const Agreement& subject) {
  const lexicon::Adjective& adjective = *quality.adjective;
  const lexicon::Text french = agree(adjective, subject.feminine, subject.plural);
  if (!quality.than) {
    const Phrase degree = with_role("adverb", optional_phrase(derivation, quality.degree));
    const Phrase word = with_role("adjective", derivation.phrase(adjective.english, french));
    return {chain(degree.english, word.english), chain(degree.french, word.french)};
  }
  const int more = derivation.mark(), word = derivation.mark(), than = derivation.mark();
  const Phrase other = with_role("complement", noun_phrase(derivation, *quality.than));
  const auto degree = [&](std::string_view text) { return with_role("adverb", words(text, {more})); };
  const auto plain = [&](std::string_view text) { return with_role("adjective", words(text, {word})); };
  const auto link = [&](std::string_view text) { return with_role("preposition", words(text, {than})); };
  const Side rest = chain(words(french, {word}), words("que", {than}), other.french);
  if (quality.as_much)
    return {chain(degree("as"), plain(adjective.english), link("as"), other.english),
            chain(words("aussi", {more}), rest)};
  const Side compared = adjective.comparative == "more"
                            ? chain(degree("more"), plain(adjective.english))
                            : with_role("adjective", words(adjective.comparative, {more, word}));
  return {chain(compared, link("than"), other.english), chain(words("plus", {more}), rest)};
}

/// The object: a noun phrase after the verb, or a pronoun, which French puts before it.
struct Object {
  Phrase noun, pronoun;
};

Object object_phrase(Derivation& derivation, const Clause& clause) {
  if (!clause.object) return {{}, with_role("object", optional_phrase(derivation, clause.object_pronoun))};
  const Indefinite indefinite = clause.polarity != Polarity::affirmative ? Indefinite::negated
                                : clause.question                        ? Indefinite::questioned
                                                                         : Indefinite::plain;
  derivation.combine(clause.verb->english, clause.object->noun->english);
  return {with_role("object", noun_phrase(derivation, *clause.object, indefinite)), {}};
}

Phrase clause_phrase(Derivation& derivation, const Clause& clause) {
  const Agreement agrees = agreement(clause.subject);
  const bool support = clause.question || clause.polarity == Polarity::negative;
  const auto adverb = [&](const lexicon::Fixed* fixed) {
    return with_role("adverb", optional_phrase(derivation, fixed));
  };
  const Phrase asked = with_role("question", optional_phrase(derivation, clause.question_word));
  const Phrase subject = subject_phrase(derivation, clause.subject);
  const VerbGroup verb = clause.quality ? copula(derivation, clause.tense, agrees)
                                        : verb_group(derivation, *clause.verb, clause.tense, agrees, support);
  const Negation no = negation(derivation, clause.polarity);
  const Phrase frequent = adverb(clause.frequent);
  const Object object = object_phrase(derivation, clause);
  Phrase quality;
  if (clause.quality) {
    quality = quality_phrase(derivation, *clause.quality, agrees);
    if (clause.subject.noun) derivation.combine(clause.quality->adjective->english, clause.subject.noun->noun->english);
  }
  const Phrase manner = adverb(clause.manner), place = adverb(clause.place);
  const Phrase adjunct = clause.adjunct ? adjunct_phrase(derivation, *clause.adjunct) : Phrase{};
  const Phrase time =
      clause.time ? with_role("adverb", derivation.phrase(clause.time->english, clause.time->french)) : Phrase{};
  const Phrase comma = clause.time_first ? with_role("punctuation", derivation.phrase(",", ",")) : Phrase{};
  const Phrase none;
  const Phrase& opening = clause.time_first ? time : none;
  const Phrase& closing = clause.time_first ? none : time;
  // The pronoun stands before the verb that governs it: il ne LE voit pas, il ne va pas LE voir.
  const Side& before_finite = verb.rest.empty() ? object.pronoun.french : none.french;
  const Side& before_rest = verb.rest.empty() ? none.french : object.pronoun.french;
  return {chain(opening.english, comma.english, asked.english, clause.question ? verb.auxiliary : Side{},
                subject.english, clause.question ? Side{} : verb.auxiliary, no.english_not, no.english_never,
                frequent.english, verb.main, object.noun.english, object.pronoun.english, quality.english,
                manner.english, place.english, adjunct.english, closing.english),
          chain(opening.french, comma.french, asked.french, clause.question ? question_marker(verb.auxiliary) : Side{},
                subject.french, no.ne, before_finite, verb.finite, no.pas, frequent.french, before_rest, verb.rest,
                object.noun.french, quality.french, manner.french, place.french, adjunct.french, closing.french)};
}

/// there is: il y a; there is no: il n'y a pas de.
Phrase existence_phrase(Derivation& derivation, const Existence& existence) {
  const bool plural = existence.noun.plural, past = existence.tense == lexicon::past;
  const int there = derivation.mark(), is = derivation.mark(), no = derivation.mark();
  const Side be = with_role("verb", words(past ? (plural ? "were" : "was") : (plural ? "are" : "is"), {is}));
  const Phrase noun = with_role("subject", noun_phrase(derivation, existence.noun,
                                                       existence.negative   ? Indefinite::negated
                                                       : existence.question ? Indefinite::questioned
                                                                            : Indefinite::plain));
  const Phrase adjunct = adjunct_phrase(derivation, existence.adjunct);
  Side what = noun.english;
  if (existence.negative) what.front() = {"no", {no}, "determiner"};  // replaces a or any
  for (int mark : existence.negative ? noun.english.front().marks : std::vector<int>{})
    what.front().marks.push_back(mark);
  const Side ne = existence.negative ? words("ne", {no}) : Side{},
             pas = existence.negative ? words("pas", {no}) : Side{};
  const Side verb = words(past ? "avait" : "a", {is});
  if (existence.question)
    return {chain(be, words("there", {there}), what, adjunct.english),
            chain(question_marker(be), words("il", {there}), ne, words("y", {there}), verb, pas, noun.french,
                  adjunct.french)};
  return {chain(words("there", {there}), be, what, adjunct.english),
          chain(words("il", {there}), ne, words("y", {there}), verb, pas, noun.french, adjunct.french)};
}

}  // namespace

AlignedPair derive(const Sentence& sentence) {
  Derivation derivation;
  Phrase opening, body, link, second;
  if (sentence.speaker) {  // i think that: je pense que
    const Phrase subject = subject_phrase(derivation, *sentence.speaker);
    const VerbGroup verb =
        verb_group(derivation, *sentence.speech, lexicon::present, agreement(*sentence.speaker), false);
    const Phrase that = with_role("conjunction", derivation.phrase("that", "que"));
    opening = {chain(subject.english, verb.main, that.english), chain(subject.french, verb.finite, that.french)};
  }
  body = sentence.existence ? existence_phrase(derivation, *sentence.existence)
                            : clause_phrase(derivation, sentence.first);
  if (sentence.conjunction) {
    link = with_role("conjunction", optional_phrase(derivation, sentence.conjunction));
    second = clause_phrase(derivation, sentence.second);
  }
  const bool question = sentence.existence ? sentence.existence->question : sentence.first.question;
  const Phrase stop = with_role("punctuation", question ? derivation.phrase("?", "?") : derivation.phrase(".", "."));
  return derivation.finish({chain(opening.english, body.english, link.english, second.english, stop.english),
                            chain(opening.french, body.french, link.french, second.french, stop.french)});
}

}  // namespace tapestry
