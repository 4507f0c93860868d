#include "autograd/ops.h"
#include "optim/clip.h"
#include "optim/optimizer.h"
#include "tools/adapters.h"
#include "tools/annotated_transformer.h"
#include "tools/trained_case.h"
#include "tools/transformer_options.h"

namespace tapestry {
namespace {

Outputs encoder_layer(OracleCase& c) {
  const annotated::Layer layer(c, "", annotated_options(c), false);
  c.load(annotated_names());
  const Var x = c.in("x");
  return layer(c, x, annotated_mask(c, "mask", x.size(0), x.size(1), x.size(1)));
}

Outputs decoder_layer(OracleCase& c) {
  const annotated::Layer layer(c, "", annotated_options(c), true);
  c.load(annotated_names());
  const Var x = c.in("x"), memory = c.in("memory");
  const CaseMask memory_mask = annotated_mask(c, "src_mask", x.size(0), x.size(1), memory.size(1));
  return layer(c, x, annotated_mask(c, "tgt_mask", x.size(0), x.size(1), x.size(1)), memory, &memory_mask);
}

// The loss of the source's tutorial: divided by the real tokens.
Var loss_of(const OracleCase& c, const Var& logits) {
  const Ids targets = c.ids("tgt_y");
  const auto padding = c.hyper<std::int32_t>("pad");
  double tokens = 0;
  for (auto target : targets.values()) tokens += target == padding ? 0 : 1;
  return annotated::label_smoothing(logits, targets, c.hyper<double>("smoothing"), padding) / tokens;
}

Outputs model_loss(OracleCase& c) {
  const annotated::Model model(c);
  const Var logits = model(c);
  return {{"log_probs", log_softmax(logits)}, {"loss", loss_of(c, logits)}};
}

// Our training step smooths labels as PyTorch does, so the update is made of its parts. LambdaLR counts from 0, which
// is treated as 1: the first two updates have one rate.
Outputs training(OracleCase& c) {
  if (c.hyper<std::string>("optimizer") != "Adam" || c.given("clip") || !c.given("noam"))
    throw NotImplemented("train: only the Annotated Transformer's recipe");
  const annotated::Model model(c);
  const auto betas = c.hyper<std::vector<double>>("betas");
  Adam optimizer(c.store().pieces(), {betas.at(0), betas.at(1), c.hyper<double>("eps")});
  const ParameterStore::Gradients gradients = c.store().gradients();
  std::vector<double> losses, norms, rates;
  for (Index i = 0; i < c.hyper<Index>("steps"); ++i) {
    Tape tape{gradients.by_parameter};
    const Var loss = loss_of(c, model(c));
    tape.backward(loss);
    losses.push_back(loss.value().item());
    norms.push_back(total_norm(gradients.pieces));
    rates.push_back(c.hyper("base_lr", 1.0) * noam(c.entry().hyper["noam"]).rate(i));
    optimizer.step(gradients.pieces, rates.back());
  }
  return trained(c, losses, norms, rates);
}

}  // namespace

std::vector<Adapter> annotated_adapters() {
  const std::string parts = "nn: MultiHeadAttention, FeedForward; composed: its norm and residuals";
  return {{"at_encoder_layer", parts, encoder_layer},
          {"at_decoder_layer", parts, decoder_layer},
          {"at_transformer", parts + ", its label smoothing", model_loss},
          {"train_at_transformer*", parts + ", its label smoothing; optim: Adam, Schedule", training}};
}

}  // namespace tapestry
