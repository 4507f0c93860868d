#include "nn/layer_checks.h"

#include "core/random.h"
#include "nn/convolution.h"
#include "nn/dropout.h"
#include "nn/linear.h"
#include "nn/positional_encoding.h"
#include "nn/recurrent.h"
#include "nn/transformer_layers.h"

namespace tapestry {
namespace {

// Sizes are all different, so that no transposition can hide.
const Pass training{true, 11, 3, 5};

Var input(const char* name, const Shape& shape) {
  core::Random random(7, name_hash(name));
  Tensor x = Tensor::empty(shape, DType::f64);
  initialise::normal(1)(x, random);
  return watch(std::move(x), name);
}

// Builds a layer in a store of f64 and checks it by its inputs and its parameters.
template <class Layer, class Make, class Run>
NamedCheck check(const std::string& name, std::vector<Var> inputs, Make make, Run run) {
  return {name, [=] {
            ParameterStore store(DType::f64, 2);
            const Layer layer = make(Scope(store));
            std::vector<Var> leaves = inputs;
            leaves.insert(leaves.end(), store.parameters().begin(), store.parameters().end());
            return gradcheck(name, leaves, [&] { return run(layer, inputs); });
          }};
}

using Vars = std::vector<Var>;

void append(Vars& all, const RecurrentState& state) {
  all.push_back(state.h);
  if (state.c) all.push_back(state.c);
}

Vars outputs_of(const Recurrent::Output& output) {
  Vars all{output.sequence};
  for (const RecurrentState& state : output.final) append(all, state);
  return all;
}

void pooling_checks(std::vector<NamedCheck>& checks) {
  const Mask lengths = Mask::lengths(Ids({5, 0, 3}));  // the second sentence has nothing to attend to
  const auto pooling = [&](const std::string& name, const PoolingOptions& options, Index key) {
    checks.push_back(check<AttentionPooling>(
        "AttentionPooling/" + name, {input("q", {3, 2, 4}), input("k", {3, 5, key}), input("v", {3, 5, 7})},
        [=](const Scope& s) { return AttentionPooling(s, key, 4, options); },
        [=](const AttentionPooling& layer, const Vars& in) {
          const auto [context, weights] = layer(in[0], layer.project(in[1]), in[2], lengths, training);
          return Vars{context, weights};
        }));
  };
  for (const std::string& score : score_names()) {
    const Index key = score == "additive" || score == "general" || score == "network" ? 3 : 4;
    for (const std::string& normaliser : normaliser_names())
      if (score != "gaussian" || normaliser != "relu")
        pooling(score + ", " + normaliser + ", lengths, dropout", {score, normaliser, 6, 0.3, 1.5}, key);
  }
  pooling("gaussian, fixed width", {"gaussian", "softmax", 6, 0, 1.5, false}, 4);
}

void recurrent_checks(std::vector<NamedCheck>& checks, const std::string& cell) {
  const std::string name = "Recurrent/" + cell;
  const bool two = cell == "lstm";  // states
  Vars inputs{input("x", {2, 4, 3}), input("h0", {2, 5})};
  if (two) inputs.push_back(input("c0", {2, 5}));
  checks.push_back(check<Recurrent>(
      name, inputs, [=](const Scope& s) { return Recurrent(s, 3, 5, {cell}); },
      [=](const Recurrent& layer, const Vars& in) {
        return outputs_of(layer(in[0], {{in[1], two ? in[2] : Var()}}, {}, training));
      }));
  checks.push_back(check<Recurrent>(
      name + ", two layers, both directions, lengths, dropout", {input("x", {3, 4, 3})},
      [=](const Scope& s) {
        return Recurrent(s, 3, 2, {cell, 2, true, 0.3});
      },
      [](const Recurrent& layer, const Vars& in) {
        return outputs_of(layer(in[0], {}, Ids({4, 1, 3}), training));
      }));
  inputs = {input("x0", {3, 4}), input("x1", {3, 4}), input("h0", {3, 5}), input("h1", {3, 5})};
  if (two) inputs.insert(inputs.end(), {input("c0", {3, 5}), input("c1", {3, 5})});
  checks.push_back(check<Recurrent>(
      name + ", steps", inputs,
      [=](const Scope& s) {
        return Recurrent(s, 4, 5, {cell, 2, false, 0.3});
      },
      [=](const Recurrent& layer, const Vars& in) {
        std::vector<RecurrentState> states{{in[2], two ? in[4] : Var()}, {in[3], two ? in[5] : Var()}};
        const Var first = layer.step(in[0], states, training, 0);
        Vars all{first, layer.step(in[1], states, training, 1)};
        append(all, states[0]);
        return all;
      }));
}

void transformer_layer_checks(std::vector<NamedCheck>& checks) {
  const Mask lengths = Mask::lengths(Ids({4, 0, 3}));
  MultiHeadAttentionOptions attention;
  attention.heads = 2;
  attention.dropout = 0.3;
  checks.push_back(check<MultiHeadAttention>(
      "MultiHeadAttention/self, dropout, weights", {input("x", {3, 4, 6})},
      [=](const Scope& s) { return MultiHeadAttention(s, 6, attention); },
      [=](const MultiHeadAttention& layer, const Vars& in) {
        const auto [context, weights] = layer(in[0], Mask::causal() & lengths, training, true);
        return Vars{context, weights};
      }));
  for (const std::string& score : score_names()) {
    MultiHeadAttentionOptions scored = attention;
    scored.score = score;
    scored.normaliser = score == "scaled-dot" ? "relu" : "softmax";
    checks.push_back(check<MultiHeadAttention>(
        "MultiHeadAttention/" + score + ", " + scored.normaliser, {input("x", {3, 4, 6})},
        [=](const Scope& s) { return MultiHeadAttention(s, 6, scored); },
        [=](const MultiHeadAttention& layer, const Vars& in) {
          const auto [context, weights] = layer(in[0], Mask::causal() & lengths, training, true);
          return Vars{context, weights};
        }));
  }
  attention.key_input = 3;
  attention.value_input = 5;
  attention.bias = false;
  checks.push_back(check<MultiHeadAttention>(
      "MultiHeadAttention/cross, separate widths",
      {input("q", {3, 2, 6}), input("k", {3, 4, 3}), input("v", {3, 4, 5})},
      [=](const Scope& s) { return MultiHeadAttention(s, 6, attention); },
      [=](const MultiHeadAttention& layer, const Vars& in) {
        return Vars{layer(in[0], layer.project(in[1], in[2]), lengths, training).context};
      }));
  for (const std::string norm : {"/post-norm", "/pre-norm", "/no norm", "/post-norm, no residual"}) {
    const bool pre_norm = norm == "/pre-norm";
    TransformerOptions options{6, 7, 2, 1, pre_norm, false, true, pre_norm, 0.3, 0.2, 0.1};
    options.norm = norm != "/no norm";
    options.residual = norm != "/post-norm, no residual";
    checks.push_back(check<EncoderLayer>(
        "EncoderLayer" + norm, {input("x", {3, 4, 6})}, [=](const Scope& s) { return EncoderLayer(s, options); },
        [=](const EncoderLayer& layer, const Vars& in) { return Vars{layer(in[0], lengths, training)}; }));
    checks.push_back(check<DecoderLayer>(
        "DecoderLayer" + norm, {input("x", {3, 2, 6}), input("memory", {3, 4, 6})},
        [=](const Scope& s) { return DecoderLayer(s, options); },
        [=](const DecoderLayer& layer, const Vars& in) {
          DecoderLayer::Weights weights;
          const auto memory = layer.cross_attention.project(in[1]);
          return Vars{layer(in[0], memory, Mask::causal(), lengths, training, &weights), weights.self, weights.cross};
        }));
  }
}

}  // namespace

std::vector<NamedCheck> layer_checks() {
  std::vector<NamedCheck> checks;
  checks.push_back(check<Linear>(
      "Linear", {input("x", {2, 3, 5})}, [](const Scope& s) { return Linear(s, 5, 4); },
      [](const Linear& layer, const Vars& in) { return Vars{layer(in[0])}; }));
  checks.push_back(check<Linear>(
      "Linear/no bias", {input("x", {3, 5})}, [](const Scope& s) { return Linear(s, 5, 4, false); },
      [](const Linear& layer, const Vars& in) { return Vars{layer(in[0])}; }));
  checks.push_back(check<Embedding>(
      "Embedding", {}, [](const Scope& s) { return Embedding(s, 6, 3); },
      [](const Embedding& layer, const Vars&) {
        return Vars{layer(Ids({5, 0, 5, 2}, {2, 2}))};
      }));
  for (const std::string& kind : position_kinds())
    checks.push_back(check<Positions>(
        "Positions/" + kind, {input("x", {2, 3, 4})},
        [=](const Scope& s) {
          return Positions(s, 4, {kind, 7});
        },
        [](const Positions& layer, const Vars& in) { return Vars{layer(in[0], 2)}; }));
  checks.push_back(check<Dropout>(
      "Dropout", {input("x", {2, 3, 9})}, [](const Scope& s) { return Dropout(s, 0.4); },
      [](const Dropout& layer, const Vars& in) { return Vars{layer(in[0], training)}; }));
  checks.push_back(check<Conv1d>(
      "Conv1d/causal, dilation, lengths", {input("x", {3, 6, 2})},
      [](const Scope& s) {
        return Conv1d(s, 2, 4, 3, {true, 2});
      },
      [](const Conv1d& layer, const Vars& in) {
        return Vars{layer(in[0], Ids({6, 0, 5}))};
      }));
  checks.push_back(check<Conv1d>(
      "Conv1d/same, even kernel", {input("x", {3, 5, 2})}, [](const Scope& s) { return Conv1d(s, 2, 3, 4); },
      [](const Conv1d& layer, const Vars& in) { return Vars{layer(in[0], {})}; }));
  for (const std::string& cell : cell_names()) recurrent_checks(checks, cell);
  pooling_checks(checks);
  transformer_layer_checks(checks);
  return checks;
}

}  // namespace tapestry
