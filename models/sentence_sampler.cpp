#include "models/sentence_sampler.h"

namespace tapestry {

using namespace lexicon;

namespace {

constexpr unsigned alive = person | animal;
constexpr unsigned anything = person | animal | object | vehicle | food | place;

/// How much a noun phrase may hold: a noun; an adjective; a relative clause or another noun behind "of".
enum class Detail { bare, adjective, full };

const Determiner* determiner(Text singular_or_plural) {
  for (const Determiner& entry : determiners)
    if (entry.english == singular_or_plural || entry.english_plural == singular_or_plural) return &entry;
  fail(fmt::format("sentence_sampler: the determiner must be in the lexicon; {} given", singular_or_plural));
}

bool is_possessive(const Determiner& entry) {
  return entry.english == entry.english_plural && entry.english != "the";
}

/// several, two, three: plural only, and no article follows as in "all the".
bool is_number(const Determiner& entry) {
  return entry.english.empty() && entry.english_plural != "all/1 the/2";
}

/// Counting words (every, all, several, two) are kept away from negations, where their scope would be in doubt.
const Determiner* sample_determiner(Chooser& chooser, bool plural, bool ownable, bool may_count) {
  const std::size_t roll = chooser.below(may_count ? 100 : 84);
  if (roll < 34) return determiner("the");
  if (roll < 54) return determiner("a");
  if (roll < 74) return ownable ? &chooser.pick(determiners, is_possessive) : determiner("the");
  if (roll < 84) return determiner("this");
  if (!plural) return determiner("every");
  return &chooser.pick(determiners, [](const Determiner& entry) { return entry.english.empty(); });
}

RelativeClause sample_relative(Chooser& chooser, const Noun& antecedent);

NounPhrase sample_noun_phrase(Chooser& chooser, unsigned classes, Detail detail, bool may_count = true) {
  NounPhrase phrase;
  phrase.noun = &chooser.pick(nouns, [&](const Noun& noun) { return (noun.classes & classes) != 0; });
  phrase.plural = chooser.chance(40);
  const bool ownable = (phrase.noun->classes & nobodys) == 0;
  if (ownable && chooser.chance(10))
    phrase.owner = &chooser.pick(names);
  else
    phrase.determiner = sample_determiner(chooser, phrase.plural, ownable, may_count);
  if (detail == Detail::bare) return phrase;
  if (chooser.chance(42))
    phrase.adjective = &chooser.pick(
        adjectives, [&](const Adjective& adjective) { return (adjective.classes & phrase.noun->classes) != 0; });
  if (detail == Detail::adjective || phrase.owner) return phrase;
  if (!phrase.plural && (phrase.noun->classes & place) && phrase.determiner->english == "the" && chooser.chance(30)) {
    NounPhrase whole;
    do whole = sample_noun_phrase(chooser, room, Detail::bare, false);
    while (is_indefinite(whole) && whole.plural);
    phrase.of = std::make_shared<NounPhrase>(whole);
  } else if (phrase.determiner->english == "the" && chooser.chance(20)) {
    phrase.relative = std::make_shared<RelativeClause>(sample_relative(chooser, *phrase.noun));
  }
  return phrase;
}

RelativeClause sample_relative(Chooser& chooser, const Noun& antecedent) {
  RelativeClause clause;
  if ((antecedent.classes & person) && chooser.chance(60)) {
    clause.verb = &chooser.pick(verbs, [&](const Verb& verb) { return (verb.subjects & antecedent.classes) != 0; });
    if (clause.verb->objects) clause.object = sample_noun_phrase(chooser, clause.verb->objects, Detail::bare, false);
  } else {
    clause.pronoun = &chooser.pick(pronouns, [](const Pronoun& entry) { return entry.slot != 2 && entry.slot != 3; });
    // "the man that he looks for" ends in a particle: right, but not worth its trouble
    clause.verb = &chooser.pick(
        verbs, [&](const Verb& verb) { return (verb.objects & antecedent.classes) != 0 && verb.particle.empty(); });
  }
  return clause;
}

Subject sample_subject(Chooser& chooser, unsigned classes, bool auxiliary, bool you, Detail detail, bool may_count) {
  Subject subject;
  const std::size_t roll = chooser.below(100);
  if (roll < 42) {
    const bool first = chooser.chance(12);  // only "i" has forms like dors and vends
    subject.pronoun = &chooser.pick(pronouns, [&](const Pronoun& entry) {
      return (entry.slot == 0 || !first) && (auxiliary || entry.slot != 2) && (you || entry.slot != 3);
    });
  } else if (roll < 54) {
    subject.names.push_back(&chooser.pick(names));
    if (chooser.chance(25))
      subject.names.push_back(&chooser.pick(names, [&](const Name& name) { return &name != subject.names[0]; }));
  } else {
    subject.noun = sample_noun_phrase(chooser, classes, detail, may_count);
  }
  return subject;
}

/// One gives and shows something to someone.
bool transfers(const Verb* verb) {
  return verb && (verb->english == "give" || verb->english == "show");
}

Adjunct sample_adjunct(Chooser& chooser, const Verb* verb, bool may_count) {
  Adjunct adjunct;
  const bool leaves = verb && verb->english == "leave", comes = verb && verb->english == "come";
  adjunct.preposition = &chooser.pick(prepositions, [&](const Preposition& entry) {
    const bool companion = entry.classes == person;
    if (entry.english == "to") return companion ? transfers(verb) : comes;
    if (transfers(verb) || !verb) return verb == nullptr && !companion;
    if (entry.english == "for") return verb->objects != 0;
    if (verb->with_etre && (entry.classes & support)) return false;
    return companion || !leaves;  // one does not leave in a place, nor is a thing with someone
  });
  if (adjunct.preposition->classes == person && chooser.chance(40)) {
    adjunct.name = &chooser.pick(names);
    return adjunct;
  }
  do adjunct.noun = sample_noun_phrase(chooser, adjunct.preposition->classes, Detail::adjective, may_count);
  while (adjunct.preposition->french.ends_with("de") && adjunct.noun.plural && elides_after_de(adjunct.noun));
  return adjunct;
}

const Time* sample_time(Chooser& chooser, Tense tense) {
  // what one can, must or wants to do lies ahead
  const unsigned wanted = tense == past || tense == present ? tense : future;
  return &chooser.pick(times, [&](const Time& time) { return (time.tenses & wanted) != 0; });
}

Tense sample_tense(Chooser& chooser) {
  const std::size_t roll = chooser.below(100);
  return roll < 42 ? present : roll < 72 ? past : roll < 84 ? future : roll < 89 ? can : roll < 94 ? must : want;
}

/// What surrounds the core of a clause, at most two of: adjunct, place, manner, time.
void add_circumstances(Chooser& chooser, Clause& clause, bool may_count, bool reported) {
  const bool intransitive = clause.verb && clause.verb->objects == 0;
  const Text asked = clause.question_word ? clause.question_word->english : Text{};
  if (intransitive && asked != "how" && chooser.chance(25)) clause.manner = &chooser.pick(manners);
  if (asked != "where") {
    if (clause.verb && chooser.chance(transfers(clause.verb) ? 90 : intransitive ? 45 : 28))
      clause.adjunct = sample_adjunct(chooser, clause.verb, may_count);
    else if (!(clause.verb && clause.verb->english == "leave") && chooser.chance(intransitive ? 30 : 12))
      clause.place = &chooser.pick(places);
  }
  if (asked != "when" && clause.polarity != Polarity::never && chooser.chance(25)) {
    clause.time = sample_time(chooser, clause.tense);
    clause.time_first = !clause.question && !reported && chooser.chance(35);
  }
}

void sample_quality(Chooser& chooser, Clause& clause) {
  const unsigned classes = clause.subject.noun ? clause.subject.noun->noun->classes : person;
  Quality quality;
  const bool compares = chooser.chance(40);
  quality.as_much = compares && chooser.chance(40);
  quality.adjective = &chooser.pick(adjectives, [&](const Adjective& entry) {
    if (compares && !quality.as_much && entry.comparative.empty()) return false;
    return (entry.classes & classes) != 0 && entry.english != "new";
  });
  if (compares) {
    do quality.than = sample_noun_phrase(chooser, classes & quality.adjective->classes, Detail::bare, false);
    while (!quality.than->owner && quality.than->determiner->english == "a");
  } else if (chooser.chance(45)) {
    quality.degree = &chooser.pick(degrees);
  }
  clause.quality = quality;
}

void sample_object(Chooser& chooser, Clause& clause, Detail detail, bool may_count) {
  const Verb& verb = *clause.verb;
  const bool elides = starts_with_vowel(verb.infinitive);  // l'aime, l'achètent: too many rare words
  if (clause.tense != past && chooser.chance(20) && !elides) {
    clause.object_pronoun = &chooser.pick(object_pronouns, [&](const Fixed& entry) {
      if (entry.english == "them") return true;
      return (verb.objects & (entry.english == "it" ? ~alive : person)) != 0;
    });
    return;
  }
  const bool negated = clause.polarity != Polarity::affirmative;
  const auto unwanted = [&](const NounPhrase& object) {  // pas d'oiseau is rare, il n'aime pas de chat is no French
    return negated && (elides_after_de(object) || (verb.english == "love" && is_indefinite(object)));
  };
  do clause.object = sample_noun_phrase(chooser, verb.objects, detail, may_count);
  while (unwanted(*clause.object));
}

/// Verbs with être, and those that begin with a vowel, have more forms than others (arrivées, n'achètent) and so need a
/// larger share.
const Verb& sample_verb(Chooser& chooser, bool transitive, const Verb* unwanted) {
  const bool many_forms = chooser.chance(transitive ? 17 : 45);
  return chooser.pick(verbs, [&](const Verb& verb) {
    if ((verb.objects != 0) != transitive || &verb == unwanted) return false;
    return !many_forms || (transitive ? starts_with_vowel(verb.infinitive) : verb.with_etre);
  });
}

/// What a clause is part of: a sentence of its own, which may ask; after "that"; beside another clause, where it holds
/// no more than subject, verb and object.
enum class Place { alone, reported, beside };

Clause sample_clause(Chooser& chooser, Tense tense, Place where, const Verb* unwanted = nullptr) {
  Clause clause;
  clause.tense = tense;
  clause.question = where == Place::alone && chooser.chance(20);
  if (clause.question && chooser.chance(45)) clause.question_word = &chooser.pick(question_words);
  if (!clause.question && chooser.chance(24))
    clause.polarity = chooser.chance(75) ? Polarity::negative : Polarity::never;
  const bool affirmative = clause.polarity == Polarity::affirmative;
  if (tense <= past && affirmative && !clause.question && chooser.chance(12))
    clause.frequent = &chooser.pick(frequents);
  const bool may_count = affirmative && !clause.frequent;
  const bool be = tense <= future && !clause.question_word && chooser.chance(25);
  const Detail detail = where == Place::beside ? Detail::adjective : Detail::full;
  if (be) {
    const Detail plain = where == Place::beside ? Detail::bare : Detail::full;
    clause.subject = sample_subject(chooser, anything, true, false, plain, may_count);
    sample_quality(chooser, clause);
  } else {
    const bool transitive = chooser.chance(66);
    clause.verb = &sample_verb(chooser, transitive, unwanted);
    const bool auxiliary = tense != present, you = auxiliary && !(clause.verb->with_etre && tense == past);
    clause.subject = sample_subject(chooser, clause.verb->subjects, auxiliary, you,
                                    transitive ? Detail::adjective : detail, may_count);
    if (transitive) sample_object(chooser, clause, detail, may_count);
  }
  if (where != Place::beside) add_circumstances(chooser, clause, may_count, where == Place::reported);
  return clause;
}

Existence sample_existence(Chooser& chooser) {
  Existence existence;
  existence.tense = chooser.chance(35) ? past : present;
  existence.question = chooser.chance(20);
  existence.negative = !existence.question && chooser.chance(25);
  existence.adjunct = sample_adjunct(chooser, nullptr, false);
  const Text where = existence.adjunct.preposition->english;
  const bool movable = where == "in" || where == "on" || where == "under";
  do {
    existence.noun = sample_noun_phrase(chooser, movable ? alive | object | food : anything, Detail::adjective);
    existence.noun.owner = nullptr;
    const bool counted = existence.noun.plural && !existence.negative && chooser.chance(50);
    existence.noun.determiner = counted ? &chooser.pick(determiners, is_number) : determiner("a");
  } while (existence.negative && elides_after_de(existence.noun));
  return existence;
}

}  // namespace

std::size_t Chooser::below(std::size_t n) {
  state_ += 0x9e3779b97f4a7c15u;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return static_cast<std::size_t>(((z >> 32) * n) >> 32);
}

Sentence sample_meaning(Chooser& chooser) {
  Sentence sentence;
  const std::size_t roll = chooser.below(100);
  if (roll < 10) {
    sentence.existence = sample_existence(chooser);
  } else if (roll < 24) {
    sentence.speaker = sample_subject(chooser, person, false, false, Detail::bare, true);
    sentence.speech = &chooser.pick(speech_verbs);
    sentence.first = sample_clause(chooser, sample_tense(chooser), Place::reported);
  } else if (roll < 38) {
    sentence.conjunction = &chooser.pick(conjunctions);
    Tense tense = sample_tense(chooser);
    if (sentence.conjunction->english == "when" && tense != past) tense = present;  // no "when he will"
    sentence.first = sample_clause(chooser, tense, Place::beside);
    sentence.second = sample_clause(chooser, tense, Place::beside, sentence.first.verb);
  } else {
    sentence.first = sample_clause(chooser, sample_tense(chooser), Place::alone);
  }
  return sentence;
}

bool fits(const AlignedPair& pair) {
  return pair.source.size() >= 5 && pair.source.size() <= 15 && pair.target.size() <= 17;
}

AlignedPair sample_sentence(Chooser& chooser) {
  for (;;) {
    AlignedPair pair = derive(sample_meaning(chooser));
    if (fits(pair)) return pair;
  }
}

}  // namespace tapestry
