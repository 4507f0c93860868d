#pragma once
// Two sentences written at once. Every rule of the grammar puts words on an English and on a French side; words that
// translate each other carry a common mark. Reordering moves the marks along, elision and contraction unite them, and
// at the end two words are aligned exactly when they share a mark: the alignment is never guessed.

#include <string>
#include <string_view>
#include <vector>

#include "models/alignment.h"

namespace tapestry {

struct Token {
  std::string text;
  std::vector<int> marks;
  std::string_view role = {};  // of an English word in its clause
};

using Side = std::vector<Token>;

struct Phrase {
  Side english, french;
};

/// The words of all `sides` in turn.
template <class... Sides>
Side chain(const Sides&... sides) {
  Side all;
  (all.insert(all.end(), sides.begin(), sides.end()), ...);
  return all;
}

/// The words of `text`, separated by spaces, all with these marks.
Side words(std::string_view text, const std::vector<int>& marks);

/// The phrase, whose English words have this grammatical role unless they have one already: what is inside of a noun
/// phrase says so first, and what the phrase is in its clause then holds for its head.
Side with_role(std::string_view role, Side english);
Phrase with_role(std::string_view role, Phrase phrase);

/// English in, French out. `combinations` names the adjective-noun ("red car") and verb-object ("buy car") pairs that
/// the sentence holds, by their English dictionary forms; the subject of "the car is red" counts as "red car" too.
struct AlignedPair {
  std::vector<std::string> source, target;
  Alignment alignment;
  std::vector<std::string> combinations;
  std::vector<std::string> roles = {};  // of each source word; see grammatical_roles()
};

/// adjective; adverb; auxiliary (do, will, can, must); complement (of a preposition); conjunction; determiner;
/// negation; object; other (there is); preposition; punctuation; question (its word); relative (who, that); subject;
/// verb.
const std::vector<std::string>& grammatical_roles();

/// One sentence pair in the making: hands out marks and collects combinations.
class Derivation {
 public:
  int mark() { return ++last_mark_; }

  /// A pair of fixed phrases. "last/1 week/2" with "la/2 semaine/2 dernière/1" links words that share a digit, several
  /// digits link a word to several others ("le/12"); words without a digit are all linked ("next to", "à côté de").
  Phrase phrase(std::string_view english, std::string_view french);

  void combine(std::string_view first, std::string_view second);

  /// Applies what neighbouring words do to each other, and reads the alignment off the marks.
  AlignedPair finish(const Phrase& sentence) const;

 private:
  int last_mark_ = 0;
  std::vector<std::string> combinations_;
};

/// a -> an before a vowel, can not -> cannot.
Side join_english(const Side& side);

/// The indefinite article is lost after de (près de des arbres -> près de arbres); then elision (-> près d'arbres, le
/// homme -> l'homme, que il -> qu'il); then contraction of what is left (de le -> du, à les -> aux). In this order, for
/// de l'homme is not contracted.
Side join_french(const Side& side);

/// True if the word makes the one before it elide: a vowel, y, or a mute h, which all the lexicon's but hibou's are.
bool starts_with_vowel(std::string_view french);

}  // namespace tapestry
