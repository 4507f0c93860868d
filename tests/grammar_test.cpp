#include "models/grammar.h"

#include <doctest/doctest.h>

using namespace tapestry;
using namespace tapestry::lexicon;

namespace {

const Determiner* determiner(Text either_number) {
  for (const Determiner& entry : determiners)
    if (entry.english == either_number || entry.english_plural == either_number) return &entry;
  FAIL("no such determiner");
  return nullptr;
}

NounPhrase one(Text which, Text noun, Text adjective = "") {
  NounPhrase phrase;
  phrase.noun = &find(nouns, noun);
  phrase.determiner = determiner(which);
  if (!adjective.empty()) phrase.adjective = &find(adjectives, adjective);
  return phrase;
}

NounPhrase many(Text which, Text noun, Text adjective = "") {
  NounPhrase phrase = one(which, noun, adjective);
  phrase.plural = true;
  return phrase;
}

NounPhrase owned(Text name, Text noun, Text adjective = "") {
  NounPhrase phrase = one("the", noun, adjective);
  phrase.owner = &find(names, name);
  return phrase;
}

Subject who(Text pronoun) {
  return {&find(pronouns, pronoun), {}, {}};
}
Subject who(const NounPhrase& phrase) {
  return {nullptr, {}, phrase};
}

Clause does(const Subject& subject, Text verb, Tense tense = present) {
  Clause clause;
  clause.subject = subject;
  clause.verb = &find(verbs, verb);
  clause.tense = tense;
  return clause;
}

Clause does(const Subject& subject, Text verb, const NounPhrase& object, Tense tense = present) {
  Clause clause = does(subject, verb, tense);
  clause.object = object;
  return clause;
}

Clause is(const Subject& subject, Text adjective, Tense tense = present) {
  Clause clause;
  clause.subject = subject;
  clause.tense = tense;
  clause.quality = Quality{&find(adjectives, adjective), nullptr, {}, false};
  return clause;
}

Clause negated(Clause clause, Polarity polarity = Polarity::negative) {
  clause.polarity = polarity;
  return clause;
}

Clause asked(Clause clause, Text word = "") {
  clause.question = true;
  if (!word.empty()) clause.question_word = &find(question_words, word);
  return clause;
}

Clause at(Clause clause, Text preposition, const NounPhrase& noun) {
  clause.adjunct = Adjunct{&find(prepositions, preposition), noun, nullptr};
  return clause;
}

std::string line(const std::vector<std::string>& tokens) {
  std::string text;
  for (const std::string& token : tokens) text += (text.empty() ? "" : " ") + token;
  return text;
}

std::string both(const Sentence& sentence) {
  const AlignedPair pair = derive(sentence);
  return line(pair.source) + " = " + line(pair.target);
}

std::string both(const Clause& clause) {
  Sentence sentence;
  sentence.first = clause;
  return both(sentence);
}

// word/role, of the English side.
std::string roles(const Sentence& sentence) {
  const AlignedPair pair = derive(sentence);
  std::vector<std::string> words;
  for (std::size_t i = 0; i < pair.source.size(); ++i) words.push_back(pair.source[i] + "/" + pair.roles.at(i));
  return line(words);
}

Alignment links(const Clause& clause) {
  Sentence sentence;
  sentence.first = clause;
  return derive(sentence).alignment;
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("each English word has its grammatical role, the head of a noun phrase that of the phrase") {
    Sentence sentence;
    NounPhrase man = one("the", "man", "old");
    man.relative = std::make_shared<RelativeClause>(RelativeClause{&find(verbs, "sell"), nullptr, one("a", "car")});
    sentence.first = at(does(who(man), "buy", owned("mary", "house"), past), "in", one("the", "village"));
    CHECK(roles(sentence) ==
          "the/determiner old/adjective man/subject who/relative sells/verb a/determiner car/object bought/verb "
          "mary's/determiner house/object in/preposition the/determiner village/complement ./punctuation");
    man.relative =
        std::make_shared<RelativeClause>(RelativeClause{&find(verbs, "buy"), &find(pronouns, "he"), std::nullopt});
    sentence.first = asked(does(who("they"), "buy", man));
    CHECK(roles(sentence) ==
          "do/auxiliary they/subject buy/verb the/determiner old/adjective man/object that/relative he/subject "
          "buys/verb ?/punctuation");
    sentence.first = negated(does(who("he"), "buy", one("a", "car"), can));
    CHECK(roles(sentence) == "he/subject cannot/auxiliary buy/verb a/determiner car/object ./punctuation");
    sentence.first = negated(is(who(one("the", "car")), "old", future), Polarity::never);
    sentence.first.quality->than = one("the", "house");
    CHECK(roles(sentence) ==
          "the/determiner car/subject will/auxiliary never/negation be/verb older/adjective than/preposition "
          "the/determiner house/complement ./punctuation");
  }

  TEST_CASE("adjectives agree and stand on their side of the noun") {
    CHECK(both(does(who("he"), "buy", one("a", "car", "red"))) ==
          "he buys a red car . = il achète une voiture rouge .");
    CHECK(both(does(who("he"), "see", many("the", "dress", "white"))) ==
          "he sees the white dresses . = il voit les robes blanches .");
    CHECK(both(does(who("they"), "see", one("a", "house", "beautiful"))) ==
          "they see a beautiful house . = ils voient une belle maison .");
    CHECK(both(does(who("she"), "sell", many("some", "horse", "old"))) ==
          "she sells some old horses . = elle vend de vieux chevaux .");
    CHECK(both(does(who("she"), "sell", many("some", "newspaper", "french"))) ==
          "she sells some french newspapers . = elle vend des journaux français .");
  }

  TEST_CASE("forms before a vowel") {
    CHECK(both(does(who("he"), "see", one("a", "bird", "beautiful"))) ==
          "he sees a beautiful bird . = il voit un bel oiseau .");
    CHECK(both(does(who("he"), "see", one("my", "friend", "old"))) ==
          "he sees my old friend . = il voit mon vieil ami .");
    CHECK(both(does(who("he"), "see", one("this", "man"))) == "he sees this man . = il voit cet homme .");
    CHECK(both(does(who("he"), "see", one("this", "owl"))) == "he sees this owl . = il voit ce hibou .");
    CHECK(both(does(who("he"), "see", one("my", "school"))) == "he sees my school . = il voit mon école .");
    CHECK(both(does(who("he"), "see", one("my", "school", "new"))) ==
          "he sees my new school . = il voit ma nouvelle école .");
    CHECK(both(does(who("he"), "see", one("the", "egg"))) == "he sees the egg . = il voit l'œuf .");
    CHECK(both(does(who("i"), "love", one("a", "owl"))) == "i love an owl . = j'aime un hibou .");
  }

  TEST_CASE("verbs by person and tense") {
    CHECK(both(does(who("i"), "sell", one("the", "bed"))) == "i sell the bed . = je vends le lit .");
    CHECK(both(does(who("she"), "arrive", past)) == "she arrived . = elle est arrivée .");
    CHECK(both(does(who(many("the", "queen")), "leave", past)) == "the queens left . = les reines sont parties .");
    CHECK(both(does(who("we"), "come", past)) == "we came . = nous sommes venus .");
    CHECK(both(does(who("you"), "eat", one("the", "potato"), past)) ==
          "you ate the potato . = vous avez mangé la pomme de terre .");
    CHECK(both(does(who("i"), "look", one("the", "key"), past)) == "i looked for the key . = j'ai cherché la clé .");
    CHECK(both(does(who("they"), "sing", future)) == "they will sing . = ils vont chanter .");
    CHECK(both(does(who("she"), "sing", want)) == "she wants to sing . = elle veut chanter .");
    CHECK(both(is(who(many("the", "box")), "heavy", past)) == "the boxes were heavy . = les boîtes étaient lourdes .");
    CHECK(both(is(who("she"), "happy", future)) == "she will be happy . = elle va être heureuse .");
  }

  TEST_CASE("names agree as a group: one man makes it masculine") {
    const Subject women{nullptr, {&find(names, "mary"), &find(names, "lucy")}, {}};
    const Subject mixed{nullptr, {&find(names, "mary"), &find(names, "paul")}, {}};
    CHECK(both(does(women, "leave", past)) == "mary and lucy left . = marie et lucie sont parties .");
    CHECK(both(does(mixed, "leave", past)) == "mary and paul left . = marie et paul sont partis .");
  }

  TEST_CASE("negation goes round the finite verb") {
    CHECK(both(negated(does(who("he"), "love", one("the", "cat")))) ==
          "he does not love the cat . = il n'aime pas le chat .");
    CHECK(both(negated(does(who("i"), "buy", one("a", "cat"), past))) ==
          "i did not buy a cat . = je n'ai pas acheté de chat .");
    CHECK(both(negated(does(who("they"), "sell", many("some", "flower")))) ==
          "they do not sell any flowers . = ils ne vendent pas de fleurs .");
    CHECK(both(negated(does(who("he"), "sleep", can))) == "he cannot sleep . = il ne peut pas dormir .");
    CHECK(both(negated(does(who("he"), "sleep", past), Polarity::never)) == "he never slept . = il n'a jamais dormi .");
    CHECK(both(negated(does(who("she"), "work", want))) ==
          "she does not want to work . = elle ne veut pas travailler .");
  }

  TEST_CASE("questions") {
    CHECK(both(asked(does(who("he"), "sleep"))) == "does he sleep ? = est-ce qu'il dort ?");
    CHECK(both(asked(does(who("you"), "see", many("some", "egg"), past), "where")) ==
          "where did you see any eggs ? = où est-ce que vous avez vu des œufs ?");
    CHECK(both(asked(is(who(one("the", "cake")), "good"))) == "is the cake good ? = est-ce que le gâteau est bon ?");
  }

  TEST_CASE("object pronouns stand before their verb") {
    Clause sees = does(who("he"), "see");
    sees.object_pronoun = &find(object_pronouns, "her");
    CHECK(both(sees) == "he sees her . = il la voit .");
    CHECK(both(negated(sees)) == "he does not see her . = il ne la voit pas .");
    sees.tense = future;
    CHECK(both(negated(sees)) == "he will not see her . = il ne va pas la voir .");
  }

  TEST_CASE("contraction, owners and parts") {
    Clause sleeps = does(who("he"), "sleep");
    CHECK(both(at(sleeps, "near", one("the", "castle"))) == "he sleeps near the castle . = il dort près du château .");
    CHECK(both(at(sleeps, "near", one("the", "tree"))) == "he sleeps near the tree . = il dort près de l'arbre .");
    CHECK(both(at(sleeps, "next to", many("the", "hospital"))) ==
          "he sleeps next to the hospitals . = il dort à côté des hôpitaux .");
    CHECK(both(at(does(who("i"), "come"), "to", one("the", "park"))) == "i come to the park . = je viens au parc .");
    CHECK(both(at(sleeps, "in", owned("mary", "house", "white"))) ==
          "he sleeps in mary's white house . = il dort dans la maison blanche de marie .");
    NounPhrase garden = one("the", "garden");
    garden.of = std::make_shared<NounPhrase>(one("the", "hotel"));
    CHECK(both(does(who("he"), "visit", garden)) ==
          "he visits the garden of the hotel . = il visite le jardin de l'hôtel .");
  }

  TEST_CASE("relative clauses") {
    NounPhrase man = one("the", "man"), car = one("the", "car");
    man.relative = std::make_shared<RelativeClause>(RelativeClause{&find(verbs, "sell"), nullptr, one("a", "cow")});
    car.relative = std::make_shared<RelativeClause>(RelativeClause{&find(verbs, "love"), &find(pronouns, "she"), {}});
    CHECK(both(does(who(man), "leave")) == "the man who sells a cow leaves . = l'homme qui vend une vache part .");
    CHECK(both(does(who("i"), "see", car)) == "i see the car that she loves . = je vois la voiture qu'elle aime .");
  }

  TEST_CASE("comparison") {
    Clause clause = is(who(one("the", "church")), "old");
    clause.quality->than = one("the", "castle");
    CHECK(both(clause) == "the church is older than the castle . = l'église est plus vieille que le château .");
    clause.quality->as_much = true;
    CHECK(both(clause) == "the church is as old as the castle . = l'église est aussi vieille que le château .");
    clause.quality->as_much = false;
    clause.quality->adjective = &find(adjectives, "famous");
    CHECK(both(clause) == "the church is more famous than the castle . = l'église est plus célèbre que le château .");
  }

  TEST_CASE("there is") {
    Sentence sentence;
    sentence.existence =
        Existence{one("a", "cat", "black"), {&find(prepositions, "in"), one("the", "garden"), nullptr}};
    CHECK(both(sentence) == "there is a black cat in the garden . = il y a un chat noir dans le jardin .");
    sentence.existence->negative = true;
    CHECK(both(sentence) == "there is no black cat in the garden . = il n'y a pas de chat noir dans le jardin .");
    sentence.existence->negative = false;
    sentence.existence->question = true;
    CHECK(both(sentence) == "is there a black cat in the garden ? = est-ce qu'il y a un chat noir dans le jardin ?");
  }

  TEST_CASE("clauses together") {
    Sentence sentence;
    sentence.speaker = who("i");
    sentence.speech = &find(speech_verbs, "know");
    sentence.first = does(who("he"), "leave", past);
    CHECK(both(sentence) == "i know that he left . = je sais qu'il est parti .");
    sentence.speaker.reset();
    sentence.conjunction = &find(conjunctions, "because");
    sentence.second = is(who("she"), "sad", past);
    CHECK(both(sentence) == "he left because she was sad . = il est parti parce qu'elle était triste .");
    Clause first = does(who("he"), "leave", past);
    first.time = &find(times, "last/1 week/2");
    first.time_first = true;
    CHECK(both(first) == "last week , he left . = la semaine dernière , il est parti .");
  }

  TEST_CASE("the alignment follows the words") {
    // i did not buy mary's red cars . = je n'ai pas acheté les voitures rouges de marie .
    NounPhrase cars = owned("mary", "car", "red");
    cars.plural = true;
    CHECK(links(negated(does(who("i"), "buy", cars, past))) ==
          Alignment{{0, 0}, {1, 1}, {2, 1}, {2, 2}, {3, 3}, {4, 4}, {4, 7}, {4, 8}, {5, 6}, {6, 5}, {7, 9}});
    // does he look for the egg ? = est-ce qu'il cherche l'œuf ?
    CHECK(links(asked(does(who("he"), "look", one("the", "egg")))) ==
          Alignment{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {2, 2}, {3, 2}, {4, 3}, {5, 3}, {6, 4}});
  }

  TEST_CASE("combinations are named by dictionary forms") {
    Sentence sentence;
    sentence.first = does(who(many("the", "man", "old")), "see", many("the", "mouse", "white"), past);
    CHECK(derive(sentence).combinations == std::vector<std::string>{"old man", "see mouse", "white mouse"});
    sentence.first = is(who(many("the", "mouse")), "white");
    CHECK(derive(sentence).combinations == std::vector<std::string>{"white mouse"});
  }

  TEST_CASE("what the grammar has no words for is an error") {
    CHECK_THROWS_WITH_AS(both(does(who("you"), "sing")),
                         "verb_group: we and you must have an auxiliary; the present of sing given", Error);
    CHECK_THROWS_WITH_AS(both(does(who("he"), "see", many("every", "mouse"))),
                         "noun_phrase: the determiner must have the number of its noun; mice given", Error);
    CHECK_THROWS_WITH_AS(find(nouns, "unicorn"), "lexicon: the word must be in the list; unicorn given", Error);
  }
}
