#include "models/pointer_generator.h"

#include <algorithm>
#include <limits>

#include "autograd/ops.h"
#include "models/greedy.h"

namespace tapestry {
namespace {

constexpr double least = 1e-30;  // in place of a probability of 0 in a logarithm; f32 has it too

// What the decoder is given: <unk> for the words that its vocabulary lacks.
Ids known(const Ids& ids, Index vocabulary) {
  std::vector<std::int32_t> values(ids.values().begin(), ids.values().end());
  for (std::int32_t& id : values)
    if (id >= vocabulary) id = Vocabulary::unk;
  return Ids(std::move(values), ids.shape());
}

void require_fit(const Var& logits, const Var& gate, const Var& attention, const Ids& words, const Ids& targets) {
  require(logits && logits.rank() == 3, "copy_nll: logits must be [B,T,V]; given {}", logits.value());
  const Index batch = logits.size(0), steps = logits.size(1);
  require_shape("copy_nll", "the gate", gate.value(), {batch, steps, 1});
  require(words.shape().rank() == 2 && words.size(0) == batch, "copy_nll: words must be [{},S]; given {}", batch,
          words.shape());
  require_shape("copy_nll", "attention", attention.value(), {batch, steps, words.size(1)});
  require(targets.shape() == Shape{batch, steps}, "copy_nll: targets must be {}; given {}", Shape{batch, steps},
          targets.shape());
}

}  // namespace

PointerGenerator::PointerGenerator(const ModelShape& shape, const Scope& scope)
    : base(make_model(shape, scope)), gate(scope / "gate", base->output().weight.size(1), 1) {}

Var copy_distribution(const Var& logits, const Var& gate, const Var& attention, const Ids& words, Index unknown) {
  require(static_cast<bool>(attention), "copy_distribution: the model must have attention; given one without");
  const Var p_gen = sigmoid(gate);                                    // [R,1]
  const Var generated = pad(p_gen * softmax(logits), 1, 0, unknown);  // [R,V+unknown]
  return scatter_add(generated, 1, words, (1 - p_gen) * attention);
}

/// With own = log softmax(logits)_w and copied = the attention to w:
///
///   -log P = -log(e^(own + log p_gen) + e^(log copied + log(1 - p_gen))),   log sigmoid(g) = -softplus(-g)
Var copy_nll(const Var& logits, const Var& gate, const Var& attention, const Ids& words, const Ids& targets) {
  require_fit(logits, gate, attention, words, targets);
  const Index vocabulary = logits.size(2), width = words.size(1), steps = targets.size(1);
  const Shape rows = targets.shape();
  std::vector<std::int32_t> classes, lacking;
  std::vector<double> same;
  for (Index i = 0; i < targets.numel(); ++i) {
    lacking.push_back(targets[i] >= vocabulary);
    classes.push_back(lacking.back() ? 0 : targets[i]);
    for (Index s = 0; s < width; ++s) same.push_back(words[i / steps * width + s] == targets[i]);
  }
  const Var own = reshape(gather(log_softmax(logits), 2, Ids(std::move(classes), {rows[0], steps, 1})), rows);
  const Var speakable = masked_fill(own, Ids(std::move(lacking), rows), -std::numeric_limits<double>::infinity());
  const Var copied = sum(attention * Var(Tensor::from(same, attention.shape(), logits.dtype())), {2});  // [B,T]
  const Var g = reshape(gate, rows);
  return -logsumexp(stack({speakable - softplus(-g), log(copied + least) - softplus(g)}, 2), {2});
}

Var copy_nll_reference(const Var& logits, const Var& gate, const Var& attention, const Ids& words, const Ids& targets) {
  require_fit(logits, gate, attention, words, targets);
  const Index rows = targets.numel(), width = words.size(1), steps = targets.size(1), vocabulary = logits.size(2);
  std::vector<std::int32_t> repeated;
  Index unknown = 0;
  for (Index i = 0; i < rows; ++i)
    for (Index s = 0; s < width; ++s) repeated.push_back(words[i / steps * width + s]);
  for (const auto& ids : {words, targets})
    for (const std::int32_t id : ids.values()) unknown = std::max(unknown, id + 1 - vocabulary);
  const Var p = copy_distribution(reshape(logits, {rows, vocabulary}), reshape(gate, {rows, 1}),
                                  reshape(attention, {rows, width}), Ids(std::move(repeated), {rows, width}), unknown);
  std::vector<std::int32_t> wanted(targets.values().begin(), targets.values().end());
  return -log(reshape(gather(p, 1, Ids(std::move(wanted), {rows, 1})), targets.shape()));
}

SequenceLoss copy_loss(const PointerGenerator& model, const Batch& batch, const Pass& pass) {
  const Linear& output = model.base->output();
  const DecoderState state = model.base->encode(batch.source.ids, batch.source.lengths, pass);
  const auto [features, attention] =
      model.base->teacher_forced(known(batch.inputs, output.weight.size(0)), state, pass, true);  // [B,T,F], [B,T,S]
  const auto nll = output.reference ? copy_nll_reference : copy_nll;
  const Var losses = nll(output(features), model.gate(features), attention, batch.words, batch.target.ids);
  std::vector<std::int32_t> padding;
  for (const std::int32_t id : batch.target.ids.values()) padding.push_back(id == Vocabulary::pad);
  Var total = sum(masked_fill(losses, Ids(std::move(padding), losses.shape()), 0));
  const double value = total.value().item();
  return {std::move(total), value};
}

CopyExample copy_example(const SentencePair& pair, const Vocabulary& source, const Vocabulary& target) {
  CopyExample result{{with_eos(pair.source, source, 0), with_eos(pair.target, target, 0)}, {}};
  result.ids.words = with_eos(pair.source, target, 0);
  Tokens& unknown = result.unknown;
  const auto number = [&](std::vector<std::int32_t>& ids, const Tokens& tokens, bool grow) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (ids[i] != Vocabulary::unk) continue;
      const auto place = std::find(unknown.begin(), unknown.end(), tokens[i]);
      if (place == unknown.end() && !grow) continue;
      ids[i] = static_cast<std::int32_t>(target.size()) + static_cast<std::int32_t>(place - unknown.begin());
      if (place == unknown.end()) unknown.push_back(tokens[i]);
    }
  };
  number(result.ids.words, pair.source, true);
  number(result.ids.target, pair.target, false);
  return result;
}

namespace {

// One batch on its way through the steps.
class CopyRows {
 public:
  CopyRows(const PointerGenerator& model, const std::vector<Example>& examples, const std::vector<std::size_t>& numbers,
           std::vector<CopiedTranslation>& translations)
      : model_(model), examples_(examples), numbers_(numbers), translations_(translations) {
    std::vector<TokenIds> sources, words;
    for (const std::size_t number : numbers) {
      sources.push_back(examples[number].source);
      words.push_back(examples[number].words);
    }
    words_ = pad(words).ids;
    const auto largest = std::max_element(words_.values().begin(), words_.values().end());
    unknown_ = std::max<Index>(0, *largest + 1 - vocabulary());
    const PaddedIds source = pad(sources);
    state_ = model.base->encode(source.ids, source.lengths, Pass());
    previous_.assign(numbers.size(), Vocabulary::bos);
  }

  void decode() {
    for (bool running = true; running;) {
      const auto step = model_.base->step(known(Ids(previous_), vocabulary()), state_, Pass());
      const Var gate = model_.gate(step.features);
      const Tensor p =
          copy_distribution(model_.base->output()(step.features), gate, step.attention, words_, unknown_).value();
      const Tensor p_gen = sigmoid(gate).value();
      running = false;
      for (std::size_t b = 0; b < numbers_.size(); ++b)
        if (say(b, p, p_gen, step.attention.value())) running = true;
    }
  }

 private:
  Index vocabulary() const { return model_.base->output().weight.size(0); }

  // The next token of row b, if it is not finished; returns whether more may follow.
  bool say(std::size_t b, const Tensor& p, const Tensor& p_gen, const Tensor& attention) {
    CopiedTranslation& translation = translations_[numbers_[b]];
    const TokenIds& source = examples_[numbers_[b]].source;
    const Index limit = std::min(step_limit(source, {}), model_.base->most_steps()),
                t = static_cast<Index>(translation.generated.size());
    if (translation.ended || t == limit) return false;
    const auto row = static_cast<Index>(b);
    if (t == 0) translation.attention = Tensor::empty({limit, static_cast<Index>(source.size())}, p.dtype());
    copy_weights(attention, row, translation.attention, t);
    translation.generated.push_back(p_gen.at(row));
    const std::int32_t token = previous_[b] = most_probable(p, row);
    translation.ended = token == Vocabulary::eos;
    if (!translation.ended) translation.ids.push_back(token);
    if (!translation.ended && t + 1 < limit) return true;
    translation.attention = translation.attention.rows(0, t + 1);
    return false;
  }

  const PointerGenerator& model_;
  const std::vector<Example>& examples_;
  const std::vector<std::size_t>& numbers_;
  std::vector<CopiedTranslation>& translations_;
  Ids words_;
  Index unknown_ = 0;
  DecoderState state_;
  std::vector<std::int32_t> previous_;
};

}  // namespace

std::vector<CopiedTranslation> copy_greedy(const PointerGenerator& model, const std::vector<Example>& examples,
                                           core::Workers& workers) {
  std::vector<TokenIds> sources;
  for (const Example& example : examples) {
    require(example.words.size() == example.source.size(),
            "copy_greedy: a sentence must have a word for each of its {} source tokens; given {}",
            example.source.size(), example.words.size());
    sources.push_back(example.source);
  }
  std::vector<CopiedTranslation> translations(examples.size());
  for_source_batches(sources, DecodingOptions().batch, workers, [&](const std::vector<std::size_t>& numbers) {
    CopyRows(model, examples, numbers, translations).decode();
  });
  return translations;
}

}  // namespace tapestry
