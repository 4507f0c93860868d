#include "tools/annotated_transformer.h"

#include <cmath>

#include "autograd/loss.h"
#include "autograd/ops.h"
#include "tools/transformer_options.h"

namespace tapestry::annotated {
namespace {

MultiHeadAttentionOptions with_heads(Index heads) {
  MultiHeadAttentionOptions options;
  options.heads = heads;
  return options;
}

std::vector<Layer> stack_of(OracleCase& c, const std::string& name, const TransformerOptions& options) {
  std::vector<Layer> layers;
  for (Index i = 0; i < options.layers; ++i)
    layers.emplace_back(c, name + ".layers." + std::to_string(i) + ".", options, name == "decoder");
  return layers;
}

}  // namespace

Norm::Norm(const Scope& scope, Index width, double epsilon_)
    : scale(scope.parameter("a_2", {width}, initialise::constant(1))),
      shift(scope.parameter("b_2", {width}, initialise::constant(0))),
      epsilon(epsilon_) {}

Var Norm::operator()(const Var& x) const {
  const Var deviation = sqrt(variance(x, {-1}, true, true));
  return scale * (x - mean(x, {-1}, true)) / (deviation + epsilon) + shift;
}

Layer::Layer(OracleCase& c, const std::string& place, const TransformerOptions& options, bool decoder)
    : place_(place),
      heads_(options.heads),
      self_attention_(c.scope() / (place + "self_attn"), options.width, with_heads(heads_)),
      feed_forward_(c.scope() / (place + "feed_forward"), options) {
  if (decoder) source_attention_.emplace_back(c.scope() / (place + "src_attn"), options.width, with_heads(heads_));
  for (int i = 0; i < (decoder ? 3 : 2); ++i)
    norms_.emplace_back(c.scope() / (place + "sublayer." + std::to_string(i) + ".norm"), options.width);
}

Var Layer::operator()(OracleCase& c, Var x, const CaseMask& mask, const Var& memory,
                      const CaseMask* memory_mask) const {
  x = x + attend(c, self_attention_, place_ + "self_attn.", heads_, AttentionInputs(norms_[0](x)), mask).context;
  for (const MultiHeadAttention& attention : source_attention_)
    x = x + attend(c, attention, place_ + "src_attn.", heads_, {norms_[1](x), memory, memory}, *memory_mask).context;
  return x + feed_forward_(norms_.back()(x), Pass());
}

Model::Model(OracleCase& c)
    : options_(annotated_options(c)),
      positions_(options_.width, c.dtype()),
      encoder_(stack_of(c, "encoder", options_)),
      decoder_(stack_of(c, "decoder", options_)),
      encoder_norm_(c.scope() / "encoder.norm", options_.width),
      decoder_norm_(c.scope() / "decoder.norm", options_.width),
      source_(c.scope() / "src_embed.0.lut", c.hyper<Index>("src_vocab"), options_.width),
      target_(c.scope() / "tgt_embed.0.lut", c.hyper<Index>("tgt_vocab"), options_.width),
      generator_(c.scope() / "generator.proj", options_.width, c.hyper<Index>("tgt_vocab")) {
  c.load(annotated_names());
}

Var Model::embed(const Embedding& table, const Ids& ids) const {
  return table(ids) * std::sqrt(static_cast<double>(options_.width)) + Var(positions_(0, ids.size(1)));  // [B,L,D]
}

Var Model::operator()(OracleCase& c) const {
  const Ids source = c.ids("src"), target = c.ids("tgt");
  const Index batch = source.size(0), from = source.size(1), to = target.size(1);
  Var x = embed(source_, source), y = embed(target_, target);
  const CaseMask source_mask = annotated_mask(c, "src_mask", batch, from, from),
                 memory_mask = annotated_mask(c, "src_mask", batch, to, from),
                 target_mask = annotated_mask(c, "tgt_mask", batch, to, to);
  for (const Layer& layer : encoder_) x = layer(c, x, source_mask);
  const Var memory = encoder_norm_(x);
  for (const Layer& layer : decoder_) y = layer(c, y, target_mask, memory, &memory_mask);
  return generator_(decoder_norm_(y));
}

// With S a row's sum of -log p but for the padding's, its cross-entropy is
// (1 - s - s/(V-2)) (-log p_t) + s/(V-2) S. From it the entropy of the target distribution is taken, a constant.
Var label_smoothing(const Var& x, const Ids& targets, double smoothing, std::int32_t padding) {
  const double classes = static_cast<double>(x.size(-1)), spread = smoothing / (classes - 2);
  CrossEntropyOptions options;
  options.ignore_index = padding;
  options.reduction = Reduction::sum;
  double rows = 0;
  std::vector<std::int32_t> skip;
  for (auto target : targets.values()) {
    rows += target == padding ? 0 : 1;
    skip.push_back(target == padding ? 1 : 0);
  }
  const Var nll = -log_softmax(x);
  const Var others = sum(nll, {-1}) - select(nll, -1, padding);
  const Var counted = masked_fill(others, Ids(std::move(skip), others.shape()), 0);
  const auto xlogx = [](double q) { return q > 0 ? q * std::log(q) : 0; };
  const double entropy = rows * (xlogx(1 - smoothing) + (classes - 2) * xlogx(spread));
  return (1 - smoothing - spread) * cross_entropy(x, targets, options) + spread * sum(counted) + entropy;
}

}  // namespace tapestry::annotated
