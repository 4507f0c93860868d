#include "models/synchronous.h"

#include <doctest/doctest.h>

using namespace tapestry;

namespace {

std::string text(const Side& side) {
  std::string line;
  for (const Token& token : side) line += (line.empty() ? "" : " ") + token.text;
  return line;
}

std::string french(std::string_view line) {
  return text(join_french(words(line, {})));
}
std::string english(std::string_view line) {
  return text(join_english(words(line, {})));
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("words splits at spaces") {
    CHECK(text(words(" à  côté de ", {1})) == "à côté de");
    CHECK(words("", {1}).empty());
  }

  TEST_CASE("French elides before a vowel and a mute h") {
    CHECK(french("le homme") == "l'homme");
    CHECK(french("la école") == "l'école");
    CHECK(french("je ai") == "j'ai");
    CHECK(french("il ne y a pas") == "il n'y a pas");
    CHECK(french("parce que il aime un œuf") == "parce qu'il aime un œuf");
    CHECK(french("le hibou") == "le hibou");
    CHECK(french("les hommes") == "les hommes");
    CHECK(french("si intelligent") == "si intelligent");
  }

  TEST_CASE("French contracts what was not elided") {
    CHECK(french("près de le parc") == "près du parc");
    CHECK(french("près de les parcs") == "près des parcs");
    CHECK(french("à le roi , à les rois") == "au roi , aux rois");
    CHECK(french("près de le arbre") == "près de l'arbre");
    CHECK(french("à la reine de le hibou") == "à la reine du hibou");
    CHECK(french("loin de un roi") == "loin d'un roi");
    CHECK(french("loin de des rois") == "loin de rois");
    CHECK(french("loin de des arbres") == "loin d'arbres");
    CHECK(french("loin de de belles villes") == "loin de belles villes");
  }

  TEST_CASE("English joins") {
    CHECK(english("a old man has a hat") == "an old man has a hat");
    CHECK(english("he can not see") == "he cannot see");
    CHECK(english("can he not") == "can he not");
  }

  TEST_CASE("digits link the words of a phrase; a phrase links nothing outside it") {
    Derivation derivation;
    const Phrase week = derivation.phrase("last/1 week/2", "la/2 semaine/2 dernière/1");
    const Phrase next = derivation.phrase("next to", "côté");
    const Phrase monday = derivation.phrase("on/1 monday/2", "lundi/12");
    const AlignedPair pair = derivation.finish(
        {chain(week.english, next.english, monday.english), chain(week.french, next.french, monday.french)});
    CHECK(pair.alignment == Alignment{{0, 2}, {1, 0}, {1, 1}, {2, 3}, {3, 3}, {4, 4}, {5, 4}});
  }

  TEST_CASE("marks are not shared by chance, and a joined word keeps the links of both") {
    Derivation derivation;
    const int mark = derivation.mark();
    const Phrase of = derivation.phrase("of", "de"), the = derivation.phrase("the", "le");
    const AlignedPair pair = derivation.finish(
        {chain(words("door", {mark}), of.english, the.english), chain(words("porte", {mark}), of.french, the.french)});
    CHECK(pair.target == std::vector<std::string>{"porte", "du"});
    CHECK(pair.alignment == Alignment{{0, 0}, {1, 1}, {2, 1}});
  }
}
