#pragma once
// The synchronous grammar of the built-in corpus. A tree of the structs below says what is meant; `derive` writes it in
// English and in French at once, with the alignment. Choosing what to mean is left to models/sentence_sampler.h.
//
// Conventions that make the French a function of the English: "you" is vous, "they" is ils, "i" and "we" are men, "it"
// as an object is le; the simple past is the passé composé but for "was" (imparfait), "will" is the near future.

#include <memory>
#include <optional>
#include <vector>

#include "models/lexicon.h"
#include "models/synchronous.h"

namespace tapestry {

struct RelativeClause;

/// my big dogs; mary's red car (the owner replaces the determiner); the garden of the castle; the man who sings.
struct NounPhrase {
  const lexicon::Noun* noun = nullptr;
  bool plural = false;
  const lexicon::Determiner* determiner = nullptr;
  const lexicon::Name* owner = nullptr;
  const lexicon::Adjective* adjective = nullptr;
  std::shared_ptr<const NounPhrase> of;
  std::shared_ptr<const RelativeClause> relative;
};

/// Without a pronoun "who": the noun acts (the man who sells a car). With one, "that": it is acted upon (the car that
/// he sells). Present tense.
struct RelativeClause {
  const lexicon::Verb* verb = nullptr;
  const lexicon::Pronoun* pronoun = nullptr;
  std::optional<NounPhrase> object;
};

/// Exactly one of the three: a pronoun; one or two names; a noun phrase.
struct Subject {
  const lexicon::Pronoun* pronoun = nullptr;
  std::vector<const lexicon::Name*> names;
  std::optional<NounPhrase> noun;
};

/// in the garden; with mary (a name replaces the noun phrase).
struct Adjunct {
  const lexicon::Preposition* preposition = nullptr;
  NounPhrase noun;
  const lexicon::Name* name = nullptr;
};

/// What "be" says of its subject: very old; older than the church (`than`), or as old as it (`as_much`).
struct Quality {
  const lexicon::Adjective* adjective = nullptr;
  const lexicon::Fixed* degree = nullptr;
  std::optional<NounPhrase> than;
  bool as_much = false;
};

enum class Polarity { affirmative, negative, never };

/// A clause with a verb, or with a quality and "be".
struct Clause {
  Subject subject;
  lexicon::Tense tense = lexicon::present;
  Polarity polarity = Polarity::affirmative;
  bool question = false;
  const lexicon::Fixed* question_word = nullptr;
  const lexicon::Verb* verb = nullptr;
  std::optional<Quality> quality;
  std::optional<NounPhrase> object;
  const lexicon::Fixed* object_pronoun = nullptr;
  std::optional<Adjunct> adjunct;
  const lexicon::Fixed* frequent = nullptr;
  const lexicon::Fixed* manner = nullptr;
  const lexicon::Fixed* place = nullptr;
  const lexicon::Time* time = nullptr;
  bool time_first = false;  // yesterday , he left .
};

/// there is a cat in the garden. The tense is present or past.
struct Existence {
  NounPhrase noun;
  Adjunct adjunct;
  lexicon::Tense tense = lexicon::present;
  bool negative = false, question = false;
};

/// i think that ..., followed by the clause, or a clause, a conjunction and a second clause, or an existence alone.
struct Sentence {
  std::optional<Subject> speaker;
  const lexicon::Verb* speech = nullptr;
  Clause first;
  const lexicon::Fixed* conjunction = nullptr;
  Clause second;
  std::optional<Existence> existence;
};

/// Both sides of the sentence with its final punctuation. Every word on either side is aligned. Throws Error for a
/// meaning the grammar has no words for (a plural of "every", "you" with the present of a full verb).
AlignedPair derive(const Sentence& sentence);

/// True for "a" and "some".
bool is_indefinite(const NounPhrase& phrase);

/// True if the phrase's "a" or "some", where a mere "de" takes its place, would elide (pas d'oiseau, près d'arbres):
/// such forms are too rare to be learnt, so the sampler avoids them.
bool elides_after_de(const NounPhrase& phrase);

}  // namespace tapestry
