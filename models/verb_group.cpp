#include "models/verb_group.h"

namespace tapestry {

using lexicon::Auxiliary;
using lexicon::Text;
using lexicon::Verb;

namespace {

bool third_singular(const Agreement& subject) {
  return subject.slot == 1;
}

Text present_form(const Verb& verb, int slot) {
  require(slot != 2 && slot != 3, "verb_group: we and you must have an auxiliary; the present of {} given",
          verb.english);
  return slot == 0 ? verb.je : slot == 1 ? verb.il : verb.ils;
}

/// With être the participle agrees with the subject: elles sont arrivées.
std::string participle(const Verb& verb, const Agreement& subject) {
  std::string form(verb.participle);
  if (verb.with_etre && subject.feminine) form += 'e';
  if (verb.with_etre && subject.plural) form += 's';
  return form;
}

/// will, can, must and their infinitive: will buy, va acheter.
VerbGroup modal(Derivation& derivation, const Verb& verb, const Auxiliary& auxiliary, int slot) {
  const int aux = derivation.mark(), main = derivation.mark();
  return {words(auxiliary.english[slot], {aux}), chain(words(verb.english, {main}), words(verb.particle, {main})),
          words(auxiliary.french[slot], {aux}), words(verb.infinitive, {main})};
}

}  // namespace

VerbGroup verb_group(Derivation& derivation, const Verb& verb, lexicon::Tense tense, const Agreement& subject,
                     bool support) {
  if (tense == lexicon::future) return modal(derivation, verb, lexicon::aller, subject.slot);
  if (tense == lexicon::can) return modal(derivation, verb, lexicon::pouvoir, subject.slot);
  if (tense == lexicon::must) return modal(derivation, verb, lexicon::devoir, subject.slot);

  const int aux = derivation.mark(), main = derivation.mark();
  const Side particle = words(verb.particle, {main});
  const Text do_form = tense == lexicon::past ? "did" : third_singular(subject) ? "does" : "do";
  const Side auxiliary = support ? words(do_form, {aux}) : Side{};
  const Text present = support || !third_singular(subject) ? verb.english : verb.third;
  switch (tense) {
    case lexicon::past: {  // did buy, or bought: a acheté
      const Auxiliary& helper = verb.with_etre ? lexicon::etre : lexicon::avoir;
      return {auxiliary, chain(words(support ? verb.english : verb.past, {main}), particle),
              words(helper.french[subject.slot], {support ? aux : main}), words(participle(verb, subject), {main})};
    }
    case lexicon::want: {  // wants [to buy]: veut [acheter]
      const int wanted = derivation.mark();
      const Text form = support ? lexicon::vouloir.english[0] : lexicon::vouloir.english[subject.slot];
      return {auxiliary,
              chain(words(form, {main}), words("to", {wanted}), words(verb.english, {wanted}),
                    words(verb.particle, {wanted})),
              words(lexicon::vouloir.french[subject.slot], {aux, main}), words(verb.infinitive, {wanted})};
    }
    default:  // does buy, or buys: achète
      return {
          auxiliary, chain(words(present, {main}), particle), words(present_form(verb, subject.slot), {aux, main}), {}};
  }
}

VerbGroup copula(Derivation& derivation, lexicon::Tense tense, const Agreement& subject) {
  const int aux = derivation.mark();
  if (tense == lexicon::future) {
    const int main = derivation.mark();
    return {words(lexicon::aller.english[subject.slot], {aux}), words("be", {main}),
            words(lexicon::aller.french[subject.slot], {aux}), words("être", {main})};
  }
  const Auxiliary& form = tense == lexicon::past ? lexicon::etait : lexicon::etre;
  return {with_role("verb", words(form.english[subject.slot], {aux})), {}, words(form.french[subject.slot], {aux}), {}};
}

}  // namespace tapestry
