#include <cmath>

#include "autograd/loss.h"
#include "autograd/ops.h"
#include "models/greedy.h"
#include "models/sequence_loss.h"
#include "models/training_step.h"
#include "models/transformer.h"
#include "tools/adapters.h"
#include "tools/trained_case.h"
#include "tools/transformer_options.h"

namespace tapestry {
namespace {

// The book's model, told the lengths of the case, whatever the rows are that it is given. Its recurrent encoders read
// padding like words, and only attention knows where a sentence ends; ours stop there. So those are told that every row
// is full, and where attention ends is put right afterwards.
class BookModel : public EncoderDecoder {
 public:
  // `first_position`: at each step, as the book's own prediction by steps does.
  BookModel(const std::string& model, OracleCase& c, bool first_position = false)
      : recurrent_(model != "transformer"),
        first_position_(first_position),
        inner_(make_model(shape_of(model, c), c.scope())),
        lengths_(c.ids("src_valid_len", {c.ids("src").size(0)})) {
    c.load(recurrent_ ? NameRules() : book_names());
  }

  DecoderState encode(const Ids& source, const Ids&, const Pass& pass) const override {
    if (!recurrent_) return inner_->encode(source, lengths_, pass);
    const auto batch = static_cast<std::size_t>(source.size(0));
    const auto width = static_cast<std::int32_t>(source.size(1));
    DecoderState state = inner_->encode(source, Ids(std::vector<std::int32_t>(batch, width)), pass);
    state.lengths = lengths_;
    return state;
  }
  Step step(const Ids& previous, DecoderState& state, const Pass& pass) const override {
    if (first_position_) state.position = 0;
    Step made = inner_->step(previous, state, pass);
    features_.push_back(made.features);
    return made;
  }
  void select(DecoderState& state, const Ids& parents, const Ids& sentences) const override {
    inner_->select(state, parents, sentences);
  }
  Forced teacher_forced(const Ids& inputs, DecoderState state, const Pass& pass, bool attention) const override {
    return inner_->teacher_forced(inputs, std::move(state), pass, attention);
  }
  const Linear& output() const override { return inner_->output(); }

  // The logits [B,T,V] of the steps made one by one.
  Var logits() const { return output()(stack(features_, 1)); }
  const Ids& lengths() const { return lengths_; }
  const Transformer* transformer() const { return dynamic_cast<const Transformer*>(inner_.get()); }

 private:
  static ModelShape shape_of(const std::string& model, const OracleCase& c) {
    ModelShape shape{model, c.hyper<Index>("src_vocab"), c.hyper<Index>("tgt_vocab")};
    if (model == "transformer") {
      shape.transformer = book_options(c);
    } else {
      shape.embed = c.hyper<Index>("embed");
      shape.hidden = c.hyper<Index>("hidden");
      shape.layers = c.hyper<Index>("num_layers");
    }
    return shape;
  }
  bool recurrent_, first_position_;
  std::unique_ptr<EncoderDecoder> inner_;
  Ids lengths_;
  mutable std::vector<Var> features_;
};

std::vector<std::vector<std::int32_t>> rows_of(const Ids& ids) {
  std::vector<std::vector<std::int32_t>> rows;
  const Index width = ids.size(1);
  for (Index b = 0; b < ids.size(0); ++b)
    rows.emplace_back(ids.values().begin() + b * width, ids.values().begin() + (b + 1) * width);
  return rows;
}

// The targets [B,T] with <pad>, which no loss counts, from each sentence's length on.
Ids padded_targets(const OracleCase& c) {
  require(c.hyper<std::int32_t>("pad") == Vocabulary::pad, "models: <pad> must be {}; given {}", Vocabulary::pad,
          c.hyper<std::int32_t>("pad"));
  const Ids targets = c.ids("tgt"), lengths = c.ids("tgt_valid_len", {targets.size(0)});
  std::vector<std::int32_t> counted(targets.values().begin(), targets.values().end());
  const Index steps = targets.size(1);
  for (Index i = 0; i < targets.numel(); ++i)
    if (i % steps >= lengths[i / steps]) counted[static_cast<std::size_t>(i)] = Vocabulary::pad;
  return Ids(std::move(counted), targets.shape());
}

// The weights of all layers and heads, [layer,B*H,Q,K] each.
void add_weights(const Transformer& model, const Ids& lengths, const OracleCase& c, Outputs& outputs) {
  Transformer::Weights weights;
  model.decode(c.ids("dec_in"), model.encode(c.ids("src"), lengths, Pass(), &weights), Pass(), &weights);
  std::vector<Var> self, cross;
  for (const DecoderLayer::Weights& layer : weights.decoder) {
    self.push_back(layer.self);
    cross.push_back(layer.cross);
  }
  const auto stacked = [](const std::vector<Var>& layers) {
    const Var all = stack(layers, 0);  // [layer,B,H,Q,K]
    return reshape(all, {all.size(0), -1, all.size(3), all.size(4)});
  };
  outputs.tensors["enc_attention"] = stacked(weights.encoder);
  outputs.tensors["dec_self_attention"] = stacked(self);
  outputs.tensors["dec_cross_attention"] = stacked(cross);
}

Outputs forced_loss(const std::string& name, OracleCase& c) {
  const BookModel model(name, c);
  Batch batch;
  batch.source = {c.ids("src"), c.ids("src_valid_len")};
  batch.inputs = c.ids("dec_in");
  batch.target = {padded_targets(c), c.ids("tgt_valid_len")};
  for (auto length : batch.target.lengths.values()) batch.tokens += length;
  const Pass pass;
  const auto steps = static_cast<double>(batch.target.ids.size(1));
  Outputs outputs;
  outputs.tensors["loss"] = sequence_loss(model, batch, pass).objective / steps;

  const NoRecord inference;  // the rest is compared and not differentiated
  const EncoderDecoder::Forced forced =
      model.teacher_forced(batch.inputs, model.encode(batch.source.ids, batch.source.lengths, pass), pass, true);
  const Var logits = model.output()(forced.features);
  outputs.tensors["logits"] = logits;
  CrossEntropyOptions options;
  options.reduction = Reduction::none;
  options.ignore_index = Vocabulary::pad;
  outputs.tensors["per_sample"] = mean(cross_entropy(logits, batch.target.ids, options), {1});
  if (model.transformer() != nullptr) {
    add_weights(*model.transformer(), model.lengths(), c, outputs);
  } else if (forced.attention) {
    const Shape& shape = forced.attention.shape();  // [B,T,S]; the book has [T,B,1,S]
    outputs.tensors["attention"] = reshape(transpose(forced.attention, 0, 1), {shape[1], shape[0], 1, shape[2]});
  }
  return outputs;
}

Outputs greedy_decoding(const std::string& name, OracleCase& c) {
  const BookModel model(name, c, c.entry().op.ends_with("_d2lcache"));
  const Ids source = c.ids("src");
  core::Workers workers(1);
  DecodingOptions options;
  options.limit = c.hyper<Index>("steps");
  options.batch = source.size(0);
  options.stop = false;
  // Whole rows, padding included: all are equally long, so they stay in their order.
  std::vector<std::int32_t> tokens;
  for (const Translation& translation : greedy(model, rows_of(source), workers, options))
    tokens.insert(tokens.end(), translation.ids.begin(), translation.ids.end());
  Outputs outputs{{"logits", model.logits()}};
  outputs.ids["tokens"] = Ids(std::move(tokens), {source.size(0), options.limit});
  return outputs;
}

// The book's step: the sum over sentences of the mean over all steps is differentiated, its norm clipped at 1.
Outputs training(const std::string& name, OracleCase& c) {
  const auto clip = c.given("clip") ? c.entry().hyper["clip"] : nlohmann::json();
  if (c.hyper<std::string>("optimizer") != "Adam" || (!clip.is_null() && clip != "d2l"))
    throw NotImplemented("train: only the book's recipe");
  const BookModel model(name, c);
  std::vector<Example> examples;
  const auto sources = rows_of(c.ids("src")), targets = rows_of(c.ids("tgt"));
  require(targets.size() == sources.size(), "models: as many targets as sources are needed");
  const Ids lengths = c.ids("tgt_valid_len", {c.ids("tgt").size(0)});
  for (auto length : lengths.values())
    require(0 < length && length <= c.ids("tgt").size(1), "models: a target's length must lie within it; given {}",
            length);
  for (std::size_t b = 0; b < sources.size(); ++b) {
    examples.push_back({sources[b], targets[b]});
    examples[b].target.resize(static_cast<std::size_t>(lengths[static_cast<Index>(b)]));
  }
  const MicroBatch rows = all_rows(examples);

  const auto betas = c.hyper<std::vector<double>>("betas");
  Adam optimizer(c.store().pieces(), {betas.at(0), betas.at(1), c.hyper<double>("eps"), 0, false});
  core::Workers workers(1);
  const auto steps_of_target = static_cast<double>(c.ids("tgt").size(1));
  TrainingStep step(model, c.store(), optimizer, workers, {1, steps_of_target, clip.is_null() ? 0.0 : 1.0});
  const auto lr = c.hyper<double>("lr");
  std::vector<double> losses, norms, rates;
  for (Index i = 0; i < c.hyper<Index>("steps"); ++i) {
    Pass pass;
    pass.update = static_cast<std::uint64_t>(i);
    const UpdateResult result = step(rows, pass, lr);
    losses.push_back(result.nll / steps_of_target);
    norms.push_back(result.norm);
    rates.push_back(lr);
  }
  return trained(c, losses, norms, rates);
}

using ModelCase = Outputs (*)(const std::string&, OracleCase&);

Adapter adapter(const std::string& op, const std::string& called, const std::string& model, ModelCase run) {
  return {op, called, [model, run](OracleCase& c) { return run(model, c); }};
}

}  // namespace

std::vector<Adapter> model_adapters() {
  std::vector<Adapter> adapters;
  for (const auto& [model, type] :
       {std::pair("bahdanau", "Bahdanau"), std::pair("seq2seq", "Seq2Seq"), std::pair("transformer", "Transformer")}) {
    const std::string book = std::string("d2l_") + model, made = std::string("models: ") + type;
    adapters.push_back(adapter(book, made + ", sequence_loss", model, forced_loss));
    adapters.push_back(adapter("greedy_" + book + "*", made + ", greedy", model, greedy_decoding));
    adapters.push_back(adapter("train_" + book + "*", made + ", TrainingStep, optim: Adam", model, training));
  }
  return adapters;
}

}  // namespace tapestry
