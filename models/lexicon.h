#pragma once
// The words of the built-in corpus: plain tables, spelled out, so that every form can be proof-read. How the words are
// put together is the business of models/grammar.h.

#include <span>
#include <string_view>

#include "core/error.h"

namespace tapestry::lexicon {

using Text = std::string_view;

/// What a noun names. Verbs, adjectives and prepositions list the classes they go with.
enum Class : unsigned {
  person = 1,
  animal = 2,
  object = 4,  // what one can carry
  vehicle = 8,
  food = 16,
  place = 32,
  room = 64,       // what one can be in
  support = 128,   // what one can be on or under
  building = 256,  // what one can build
  nobodys = 512,   // ma femme is my wife, not my woman
};

struct Noun {
  Text english, english_plural, french, french_plural;
  bool feminine;
  unsigned classes;
};

/// `before_vowel` is the masculine singular before a vowel (bel, vieil, nouvel), empty where it is the ordinary one;
/// `before_noun` tells belle maison from maison rouge; `comparative` is the English -er form, or "more", or empty where
/// the corpus only says "as red as".
struct Adjective {
  Text english, comparative, masculine, feminine, masculine_plural, feminine_plural, before_vowel;
  bool before_noun;
  unsigned classes;
};

/// `particle` is what English puts between verb and object (look FOR) and French does not. The French forms are je, il,
/// ils of the present, the participle and the infinitive; nous and vous occur with auxiliaries only, which spares a
/// form or two for every verb. `objects` is 0 for an intransitive verb; `subjects` are the classes that can do it.
struct Verb {
  Text english, third, past, particle, je, il, ils, participle, infinitive;
  bool with_etre;
  unsigned objects, subjects;
};

/// Forms for je, il/elle, nous, vous, ils. The English of avoir is empty: "bought" needs no word for it.
struct Auxiliary {
  Text english[5], french[5];
};

/// `masculine_vowel` and `feminine_vowel` stand before a vowel (cet homme, mon amie). An empty English form says that
/// the determiner has no such number.
struct Determiner {
  Text english, english_plural, masculine, feminine, masculine_vowel, feminine_vowel, masculine_plural, feminine_plural;
};

/// A subject pronoun; `slot` is the column of Auxiliary. "i" and "we" are taken to be men and "they" to be ils, for a
/// translation must be decidable from the English alone; "you" is vous.
struct Pronoun {
  Text english, french;
  int slot;
  bool feminine;
};

struct Name {
  Text english, possessive, french;
  bool feminine;
};

/// A fixed pair of phrases in the notation of Derivation::phrase (models/synchronous.h).
struct Fixed {
  Text english, french;
};

struct Preposition {
  Text english, french;
  unsigned classes;
};

/// Tenses as bits, so that a time adverb can say which it goes with. can, must and want govern an infinitive.
enum Tense : unsigned { present = 1, past = 2, future = 4, can = 8, must = 16, want = 32 };

struct Time {
  Text english, french;
  unsigned tenses;
};

extern const std::span<const Noun> nouns;
extern const std::span<const Adjective> adjectives;
extern const std::span<const Verb> verbs;         // of things done
extern const std::span<const Verb> speech_verbs;  // say, think, know: followed by that
extern const std::span<const Determiner> determiners;
extern const std::span<const Pronoun> pronouns;
extern const std::span<const Fixed> object_pronouns;
extern const std::span<const Name> names;
extern const std::span<const Preposition> prepositions;
extern const std::span<const Fixed> places;     // that stand alone: here, in paris
extern const std::span<const Fixed> manners;    // slowly
extern const std::span<const Fixed> frequents;  // often
extern const std::span<const Fixed> degrees;    // very
extern const std::span<const Time> times;
extern const std::span<const Fixed> conjunctions;
extern const std::span<const Fixed> question_words;
extern const Auxiliary avoir, etre, etait, aller, pouvoir, devoir, vouloir;

/// The entry whose English is `english`. Throws Error if there is none.
template <class Entry>
const Entry& find(std::span<const Entry> entries, Text english) {
  for (const Entry& entry : entries)
    if (entry.english == english) return entry;
  fail(fmt::format("lexicon: the word must be in the list; {} given", english));
}

}  // namespace tapestry::lexicon
