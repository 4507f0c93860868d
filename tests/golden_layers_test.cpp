// Layers, losses, a whole Transformer and an optimiser against what PyTorch computed.

#include <fstream>

#include "autograd/loss.h"
#include "autograd/ops.h"
#include "models/sequence_loss.h"
#include "nn/attention_pooling.h"
#include "nn/recurrent.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"
#include "tests/golden.h"

using namespace tapestry;
using nlohmann::json;

namespace {

using Vars = std::vector<Var>;
using Forward = std::function<Vars(const Vars& inputs)>;
/// Makes a layer's parameters in the scope; what it returns calls the layer, once they have their values.
using MakeLayer = std::function<Forward(const Scope&, const json& entry)>;

Mask padding(const json& entry) {
  return Mask::lengths(golden_ids(entry["attributes"]["lengths"]));
}

Index columns(const json& entry, std::size_t input) {
  return entry["inputs"][input]["shape"].back();
}

Forward recurrent(const Scope& scope, const json& entry) {
  const auto layer = std::make_shared<Recurrent>(scope, columns(entry, 0), entry["attributes"]["hidden"],
                                                 RecurrentOptions{entry["op"], 1, true});
  return [layer, lengths = golden_ids(entry["attributes"]["lengths"])](const Vars& in) {
    const Recurrent::Output output = (*layer)(in[0], {}, lengths, Pass());
    const RecurrentState &forward = output.final[0], &backward = output.final[1];
    Vars all{output.sequence, stack({forward.h, backward.h}, 0)};
    if (forward.c) all.push_back(stack({forward.c, backward.c}, 0));
    return all;
  };
}

Forward pooling(const Scope& scope, const json& entry) {
  const json& a = entry["attributes"];
  const PoolingOptions options{a.value("score", "additive"), a.value("normaliser", "softmax"), a["hidden"]};
  const auto layer = std::make_shared<AttentionPooling>(scope, columns(entry, 1), columns(entry, 0), options);
  return [layer, mask = padding(entry)](const Vars& in) {
    const auto output = (*layer)(in[0], layer->project(in[1]), in[2], mask, Pass());
    return Vars{output.context, output.weights};
  };
}

Forward self_attention(const Scope& scope, const json& entry) {
  MultiHeadAttentionOptions options;
  options.heads = entry["attributes"]["heads"];
  const auto layer = std::make_shared<MultiHeadAttention>(scope, columns(entry, 0), options);
  return [layer, mask = padding(entry) & Mask::causal()](const Vars& in) {
    const auto output = (*layer)(in[0], mask, Pass(), true);
    return Vars{output.context, output.weights};
  };
}

Forward cross_attention(const Scope& scope, const json& entry) {
  MultiHeadAttentionOptions options;
  options.heads = entry["attributes"]["heads"];
  options.key_input = columns(entry, 1);
  options.value_input = columns(entry, 2);
  options.bias = false;
  const auto layer = std::make_shared<MultiHeadAttention>(scope, columns(entry, 0), options);
  return [layer, mask = padding(entry)](const Vars& in) {
    const auto output = (*layer)(in[0], layer->project(in[1], in[2]), mask, Pass(), true);
    return Vars{output.context, output.weights};
  };
}

Forward norm(const Scope& scope, const json& entry) {
  const auto layer = std::make_shared<LayerNorm>(scope, columns(entry, 0));
  return [layer](const Vars& in) { return Vars{(*layer)(in[0])}; };
}

Forward cross_entropy_of(const Scope& scope, const json& entry) {
  const json& a = entry["attributes"];
  CrossEntropyOptions options;
  options.ignore_index = a["ignore_index"];
  options.label_smoothing = a["label_smoothing"];
  options.reduction = a["reduction"] == "mean"  ? Reduction::mean
                      : a["reduction"] == "sum" ? Reduction::sum
                                                : Reduction::none;
  if (a.contains("class_weights")) options.class_weights = golden_tensor(a["class_weights"], scope.dtype());
  return [options, targets = golden_ids(a["targets"])](const Vars& in) {
    return Vars{cross_entropy(in[0], targets, options)};
  };
}

TransformerOptions transformer_options(const json& entry) {
  const json& a = entry["attributes"];
  TransformerOptions options{columns(entry, 0), a["feed_forward"], a["heads"], 1, a["pre_norm"]};
  options.gelu = a["gelu"];
  options.dropout = 0;
  return options;
}

Forward encoder_layer(const Scope& scope, const json& entry) {
  const auto layer = std::make_shared<EncoderLayer>(scope, transformer_options(entry));
  return [layer, mask = padding(entry)](const Vars& in) { return Vars{(*layer)(in[0], mask, Pass())}; };
}

Forward decoder_layer(const Scope& scope, const json& entry) {
  const auto layer = std::make_shared<DecoderLayer>(scope, transformer_options(entry));
  return [layer, mask = padding(entry)](const Vars& in) {
    return Vars{(*layer)(in[0], layer->cross_attention.project(in[1]), Mask::causal(), mask, Pass())};
  };
}

// Sentences of ids [B,L] without <pad>.
std::vector<std::vector<std::int32_t>> sentences(const json& tensor) {
  const Ids ids = golden_ids(tensor);
  std::vector<std::vector<std::int32_t>> rows(static_cast<std::size_t>(ids.size(0)));
  for (Index i = 0; i < ids.numel(); ++i)
    if (ids[i] != Vocabulary::pad) rows[static_cast<std::size_t>(i / ids.size(1))].push_back(ids[i]);
  return rows;
}

// As training sees it: whole sentences in, the mean loss of their tokens out.
Forward translator(const Scope& scope, const json& entry) {
  ModelShape shape{"transformer", 7, 8};
  shape.transformer = {4, 6, 2, 2, false, true, true, false, 0};
  const std::shared_ptr<EncoderDecoder> model = make_model(shape, scope);
  const json& a = entry["attributes"];
  std::vector<Example> examples;
  const auto sources = sentences(a["source"]), targets = sentences(a["target"]);
  for (std::size_t b = 0; b < sources.size(); ++b) examples.push_back({sources[b], targets[b]});
  const MicroBatch rows = all_rows(examples);
  return [model, batch = make_batch(rows), smoothing = a["label_smoothing"].get<double>()](const Vars&) {
    return Vars{sequence_loss(*model, batch, Pass(), smoothing).objective / static_cast<double>(batch.tokens)};
  };
}

void check_golden_layer(const json& entry, const MakeLayer& make, DType dtype, double tolerance) {
  ParameterStore store(dtype);
  const Forward forward = make(Scope(store), entry);
  const json parameters = entry.value("parameters", json::object());
  REQUIRE(store.parameters().size() == parameters.size());
  for (const Var& parameter : store.parameters())
    parameter.value().copy_from(golden_tensor(parameters.at(parameter.leaf()->name), dtype));
  const Gradients gradients = check_golden_case(
      entry, [&](const Vars& inputs, const json&) { return forward(inputs); }, dtype, tolerance);
  for (const Var& parameter : store.parameters()) {
    INFO("gradient of " << parameter.leaf()->name);
    check_golden_tensor(gradients[parameter], entry["parameter_gradients"][parameter.leaf()->name], tolerance);
  }
}

const json& golden_layers() {
  static const json golden = json::parse(std::ifstream(SOURCE_DIR "/tests/golden/layers.json"));
  return golden["cases"];
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("layers, losses and a whole Transformer and all their gradients agree with PyTorch") {
    const std::map<std::string, MakeLayer> layers{{"gru", recurrent},
                                                  {"rnn", recurrent},
                                                  {"lstm", recurrent},
                                                  {"additive_attention", pooling},
                                                  {"self_attention", self_attention},
                                                  {"cross_attention", cross_attention},
                                                  {"layer_norm", norm},
                                                  {"cross_entropy", cross_entropy_of},
                                                  {"encoder_layer", encoder_layer},
                                                  {"decoder_layer", decoder_layer},
                                                  {"translator", translator},
                                                  {"pooling", pooling}};
    std::map<std::string, int> seen;
    for (const json& entry : golden_layers()) {
      const std::string op = entry["op"];
      if (op == "adam_noam") continue;
      INFO(op << " " << entry["attributes"].dump());
      REQUIRE(layers.contains(op));
      ++seen[op];
      check_golden_layer(entry, layers.at(op), DType::f64, 1e-9);
      check_golden_layer(entry, layers.at(op), DType::f32, 2e-5);
    }
    for (const auto& layer : layers) CHECK_MESSAGE(seen[layer.first] > 0, layer.first << " has no golden case");
  }

  TEST_CASE("Adam under the paper's schedule goes where PyTorch's goes") {
    int seen = 0;
    for (const json& entry : golden_layers()) {
      if (entry["op"] != "adam_noam") continue;
      ++seen;
      const json& a = entry["attributes"];
      Schedule schedule;
      schedule.name = "noam";
      schedule.width = a["width"];
      schedule.factor = a["factor"];
      schedule.warmup = a["warmup"];
      const Tensor w = golden_tensor(entry["start"]), given = golden_tensor(entry["given"]),
                   wanted = golden_tensor(entry["trajectory"]);
      Adam adam({w}, {0.9, 0.98, 1e-9});
      for (Index update = 1; update <= given.size(0); ++update) {
        const Tensor gradient = given.rows(update - 1, update).reshape(w.shape()).clone();
        adam.step(std::vector{gradient}, schedule.rate(update));
        for (Index i = 0; i < w.numel(); ++i)
          CHECK(w.at(i) == doctest::Approx(wanted.at((update - 1) * w.numel() + i)).epsilon(1e-9));
      }
    }
    CHECK(seen == 1);
  }
}
