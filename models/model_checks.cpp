#include "models/model_checks.h"

#include "models/labeller.h"
#include "models/language_model.h"
#include "models/pointer_generator.h"
#include "models/self_critical.h"
#include "models/sequence_loss.h"
#include "nn/attention_pooling.h"

namespace tapestry {
namespace {

struct Variant {
  std::string name;
  ModelShape shape;
};

std::vector<Variant> variants() {
  std::vector<Variant> list;
  for (const std::string& model : model_names()) list.push_back({model, {model, 13, 13, 4, 5, 2, 0.3}});
  Variant transformer = list.back();
  list.pop_back();
  transformer.shape.transformer = {6, 5, 2, 2, false, false, true, false, 0.3, 0.2, 0.1};
  list.push_back(transformer);
  transformer.name = "transformer/pre-norm, output tied, no attention biases";
  transformer.shape.transformer.pre_norm = transformer.shape.transformer.final_norm = true;
  transformer.shape.transformer.attention_bias = false;
  transformer.shape.tie = "output";
  list.push_back(transformer);
  transformer.name = "transformer/post-norm, final norms, all tied, gelu";
  transformer.shape.transformer.pre_norm = false;
  transformer.shape.transformer.attention_bias = transformer.shape.transformer.gelu = true;
  transformer.shape.tie = "all";
  list.push_back(transformer);
  transformer.name = "transformer/learned positions";
  transformer.shape.positions = {"learned", 5};
  list.push_back(transformer);
  transformer.shape.positions = {};
  transformer.name = "transformer/no norms";
  transformer.shape.transformer.norm = transformer.shape.transformer.final_norm = false;
  list.push_back(transformer);
  transformer.name = "transformer/no residual connections";
  transformer.shape.transformer.norm = true;
  transformer.shape.transformer.residual = false;
  list.push_back(transformer);
  const auto scored = [&](const std::string& model, const std::string& score, const std::string& normaliser) {
    Variant variant{model + "/" + score + ", " + normaliser, {model, 13, 13, 4, 5, 2, 0.3}};
    variant.shape.score = score;
    variant.shape.normaliser = normaliser;
    list.push_back(variant);
  };
  for (const std::string& score : score_names()) {
    if (score != "additive") scored("bahdanau", score, "softmax");
    if (score != "gaussian") scored("bahdanau", score, "relu");
  }
  scored("bahdanau-paper", "general", "softmax");
  scored("bahdanau-paper", "network", "softmax");
  for (const auto& [name, model, cell, bidirectional] :
       {std::tuple("seq2seq/rnn", "seq2seq", "rnn", false),
        std::tuple("seq2seq/lstm, both ways", "seq2seq", "lstm", true),
        std::tuple("bahdanau/both ways", "bahdanau", "gru", true),
        std::tuple("bahdanau/lstm", "bahdanau", "lstm", false),
        std::tuple("bahdanau/rnn, both ways", "bahdanau", "rnn", true),
        std::tuple("bahdanau-paper/lstm", "bahdanau-paper", "lstm", false)})
    list.push_back({name, {model, 13, 13, 4, 5, 2, 0.3, cell, bidirectional}});
  return list;
}

// Sentence pairs; a label of each token; one of the whole.
const Example first{{4, 5, 6, 4, 3}, {7, 8, 3}}, second{{9, 3}, {10, 7, 12, 7, 3}}, third{{10, 4, 8, 3}, {5, 3}};
const Example each_first{{4, 5, 6, 4, 3}, {7, 8, 5, 6, 4}}, each_second{{9, 3}, {4, 7}};
const Example one_first{{4, 5, 6, 4, 3}, {7}}, one_second{{9, 3}, {4}};

// The loss of a batch, by the parameters of the model that make(scope) builds in a store of f64.
template <class Make>
NamedCheck check(const std::string& name, bool reference, const std::vector<const Example*>& rows, Make make) {
  const std::string full = name + (reference ? "/reference" : "");
  return {full, [=] {
            ParameterStore store(DType::f64, 3);
            const auto loss = make(Scope(store, reference));
            const Batch batch = make_batch(rows);
            const Pass pass{true, 5, 2, 1};
            return gradcheck(full, store.parameters(), [&] { return std::vector{loss(batch, pass).objective}; },
                             {1e-5, 1, 8});
          }};
}

void language_model_checks(std::vector<NamedCheck>& checks, bool reference) {
  for (const bool tie : {true, false}) {
    const LanguageModelShape shape{
        13, {6, 5, 2, 2, tie, tie, true, !tie, 0.3, 0.2, 0.1}, {tie ? "sinusoidal" : "learned", 9}, tie};
    checks.push_back(check(tie ? "language model/pre-norm, tied" : "language model/post-norm, learned positions",
                           reference, {&each_first, &each_second}, [=](const Scope& scope) -> BatchLoss {
                             return [model = std::make_shared<LanguageModel>(shape, scope)](
                                        const Batch& b, const Pass& p) { return language_model_loss(*model, b, p); };
                           }));
  }
}

void labeller_checks(std::vector<NamedCheck>& checks, bool reference) {
  for (const std::string& encoder : labeller_encoders())
    for (const bool each : {false, true}) {
      LabellerShape shape{encoder, each, 13, 9, 4, 5, 2, 0.3};
      shape.transformer = {6, 5, 2, 2, false, false, true, false, 0.3, 0.2, 0.1};
      const std::vector<const Example*> rows =
          each ? std::vector{&each_first, &each_second} : std::vector{&one_first, &one_second};
      checks.push_back(check("labeller/" + encoder + (each ? ", each token" : ", the whole"), reference, rows,
                             [=](const Scope& scope) -> BatchLoss {
                               return [model = std::make_shared<Labeller>(shape, scope)](
                                          const Batch& b, const Pass& p) { return labelling_loss(*model, b, p); };
                             }));
    }
}

// Words are copied that the vocabulary of 13 has, and that it lacks; one of them stands twice in its source.
const Example copy_first{{4, 0, 0, 4, 3}, {7, 14, 3}, {4, 13, 14, 4, 3}};
const Example copy_second{{0, 9, 0, 3}, {10, 13, 9, 13, 3}, {13, 9, 13, 3}};

void pointer_generator_checks(std::vector<NamedCheck>& checks, bool reference) {
  for (const char* model : {"bahdanau", "bahdanau-paper", "transformer"}) {
    ModelShape shape{model, 13, 13, 4, 5, 1, 0.3};
    shape.transformer = {6, 5, 2, 2};
    checks.push_back(check(std::string("pointer-generator, ") + model, reference, {&copy_first, &copy_second},
                           [=](const Scope& scope) -> BatchLoss {
                             return [built = std::make_shared<PointerGenerator>(shape, scope)](
                                        const Batch& b, const Pass& p) { return copy_loss(*built, b, p); };
                           }));
  }
}

// Of samples that scored better, worse and as well as the greedy translation.
const Example better{first.source, first.target, {}, 1.5}, worse{second.source, second.target, {}, -0.7};
const Example as_good{third.source, third.target, {}, 0};

void policy_checks(std::vector<NamedCheck>& checks, bool reference) {
  for (const std::string& model : model_names()) {
    ModelShape shape{model, 13, 13, 4, 5, 2, 0.3};
    shape.transformer = {6, 5, 2, 2};
    checks.push_back(
        check("policy loss, " + model, reference, {&better, &worse, &as_good}, [=](const Scope& scope) -> BatchLoss {
          return [built = std::shared_ptr<const EncoderDecoder>(make_model(shape, scope))](
                     const Batch& b, const Pass& p) { return policy_loss(*built, b, p); };
        }));
  }
}

}  // namespace

std::vector<NamedCheck> model_checks() {
  std::vector<NamedCheck> checks;
  for (const Variant& variant : variants())
    for (const bool reference : {false, true})
      checks.push_back(check(variant.name, reference, {&first, &second, &third},
                             [shape = variant.shape](const Scope& scope) -> BatchLoss {
                               return [model = std::shared_ptr<const EncoderDecoder>(make_model(shape, scope))](
                                          const Batch& b, const Pass& p) { return sequence_loss(*model, b, p); };
                             }));
  for (const bool reference : {false, true}) {
    language_model_checks(checks, reference);
    labeller_checks(checks, reference);
    pointer_generator_checks(checks, reference);
    policy_checks(checks, reference);
  }
  return checks;
}

}  // namespace tapestry
