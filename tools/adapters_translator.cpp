#include "autograd/elementwise.h"
#include "models/sequence_loss.h"
#include "models/training_step.h"
#include "models/transformer.h"
#include "tools/adapters.h"
#include "tools/trained_case.h"
#include "tools/transformer_options.h"

namespace tapestry {
namespace {

// torch.nn.Transformer between embeddings and an output layer, whose names are ours.
std::unique_ptr<EncoderDecoder> translator(OracleCase& c) {
  require(c.hyper<std::int32_t>("pad") == Vocabulary::pad, "models: <pad> must be {}; given {}", Vocabulary::pad,
          c.hyper<std::int32_t>("pad"));
  ModelShape shape{"transformer", c.hyper<Index>("src_vocab"), c.hyper<Index>("tgt_vocab")};
  shape.transformer = torch_options(c);
  auto model = make_model(shape, c.scope());
  c.load();
  return model;
}

// Rows without the padding at their ends.
std::vector<std::vector<std::int32_t>> rows_of(const Ids& ids) {
  std::vector<std::vector<std::int32_t>> rows;
  for (Index b = 0; b < ids.size(0); ++b) {
    rows.emplace_back(ids.values().begin() + b * ids.size(1), ids.values().begin() + (b + 1) * ids.size(1));
    while (!rows.back().empty() && rows.back().back() == Vocabulary::pad) rows.back().pop_back();
  }
  return rows;
}

std::vector<Example> examples_of(const OracleCase& c) {
  const auto sources = rows_of(c.ids("src")), targets = rows_of(c.ids("tgt"));
  require(targets.size() == sources.size(), "models: as many targets as sources are needed");
  std::vector<Example> examples;
  for (std::size_t b = 0; b < sources.size(); ++b) examples.push_back({sources[b], targets[b]});
  return examples;
}

// The batch as training makes it of the same sentences, which must be that of the case.
Batch batch_of(const OracleCase& c, const MicroBatch& rows) {
  const Batch batch = make_batch(rows);
  require(batch.source.ids.shape() == c.ids("src").shape() && batch.inputs.shape() == c.ids("dec_in").shape(),
          "models: the longest rows of a case must have no padding");
  return batch;
}

Var mean_loss(const EncoderDecoder& model, const OracleCase& c, const Batch& batch) {
  return sequence_loss(model, batch, Pass(), c.hyper("label_smoothing", 0.0)).objective /
         static_cast<double>(batch.tokens);
}

// How many tokens of each row are not <pad>.
Ids lengths_of(const Ids& ids) {
  std::vector<std::int32_t> lengths(static_cast<std::size_t>(ids.size(0)));
  for (Index i = 0; i < ids.numel(); ++i)
    if (ids[i] != Vocabulary::pad) ++lengths[static_cast<std::size_t>(i / ids.size(1))];
  return Ids(std::move(lengths));
}

Outputs forced_loss(OracleCase& c) {
  const auto model = translator(c);
  const std::vector<Example> examples = examples_of(c);
  const MicroBatch rows = all_rows(examples);
  const Batch batch = batch_of(c, rows);
  Outputs outputs{{"loss", mean_loss(*model, c, batch)}};
  const NoRecord inference;  // the rest is compared and not differentiated
  const DecoderState state = model->encode(batch.source.ids, batch.source.lengths, Pass());
  // PyTorch's mask also hides padding of the target from padding of the target, which no loss sees.
  const Ids inputs = c.ids("dec_in");
  const auto& transformer = dynamic_cast<const Transformer&>(*model);
  outputs.tensors["logits"] = model->output()(transformer.decode(inputs, state, Pass(), nullptr, lengths_of(inputs)));
  return outputs;
}

// AdamW under torch.nn.utils.clip_grad_norm_, which adds 1e-6 to the norm where our training step adds nothing.
class ClippedAsTorch : public Optimizer {
 public:
  ClippedAsTorch(const std::vector<Tensor>& parameters, const AdamOptions& options, double clip)
      : Optimizer(parameters), adam_(parameters, options), clip_(clip) {}
  std::vector<std::pair<std::string, std::vector<Tensor>>> state() const override { return adam_.state(); }

 private:
  void move(std::size_t i, const Tensor& gradient, double factor, double lr) override {
    if (adam_.updates() < updates()) adam_.begin();
    const double norm = clip_ / factor;  // where the factor is below 1
    adam_.step(i, gradient, factor < 1 ? clip_ / (norm + 1e-6) : 1, lr);
  }
  Adam adam_;
  double clip_;
};

Outputs training(OracleCase& c) {
  const auto optimizer_name = c.hyper<std::string>("optimizer");
  if (optimizer_name != "Adam" && optimizer_name != "AdamW")
    throw NotImplemented("train: only Adam and AdamW, not " + optimizer_name);
  const auto model = translator(c);
  const std::vector<Example> examples = examples_of(c);
  const MicroBatch rows = all_rows(examples);
  const Batch batch = batch_of(c, rows);

  const auto betas = c.hyper<std::vector<double>>("betas");
  const double clip = c.hyper("clip", 0.0), lr = c.hyper<double>("lr");
  ClippedAsTorch optimizer(
      c.store().pieces(),
      {betas.at(0), betas.at(1), c.hyper<double>("eps"), c.hyper("weight_decay", 0.0), optimizer_name == "AdamW"},
      clip);
  core::Workers workers(1);
  TrainingStep step(*model, c.store(), optimizer, workers, {1, 0, clip, c.hyper("label_smoothing", 0.0)});
  std::vector<double> losses, norms, rates;
  for (Index i = 0; i < c.hyper<Index>("steps"); ++i) {
    losses.push_back(mean_loss(*model, c, batch).value().item());  // the step reports it without smoothing
    Pass pass;
    pass.update = static_cast<std::uint64_t>(i);
    norms.push_back(step(rows, pass, lr).norm);
    rates.push_back(lr);
  }
  return trained(c, losses, norms, rates);
}

}  // namespace

std::vector<Adapter> translator_adapters() {
  return {{"nn_translator", "models: Transformer, sequence_loss", forced_loss},
          {"train_nn_translator*", "models: Transformer, TrainingStep, optim: Adam; composed: 1e-6 in the clipping",
           training}};
}

}  // namespace tapestry
