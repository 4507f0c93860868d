#include "models/model_checks.h"

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

}  // namespace

std::vector<NamedCheck> model_checks() {
  std::vector<NamedCheck> checks;
  for (const Variant& variant : variants()) {
    for (const bool reference : {false, true}) {
      const std::string name = variant.name + (reference ? "/reference" : "");
      checks.push_back({name, [=, shape = variant.shape] {
                          ParameterStore store(DType::f64, 3);
                          const auto built = make_model(shape, Scope(store, reference));
                          const Example first{{4, 5, 6, 4, 3}, {7, 8, 3}};
                          const Example second{{9, 3}, {10, 7, 12, 7, 3}};
                          const Example third{{10, 4, 8, 3}, {5, 3}};
                          const std::vector<const Example*> rows{&first, &second, &third};
                          const Batch batch = make_batch(rows);
                          const Pass pass{true, 5, 2, 1};
                          return gradcheck(name, store.parameters(),
                                           [&] { return std::vector{sequence_loss(*built, batch, pass).objective}; },
                                           {1e-5, 1, 8});
                        }});
    }
  }
  return checks;
}

}  // namespace tapestry
