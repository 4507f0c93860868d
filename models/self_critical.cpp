#include "models/self_critical.h"

#include "autograd/loss.h"

namespace tapestry {

SequenceLoss policy_loss(const EncoderDecoder& model, const Batch& batch, const Pass& pass) {
  const DecoderState state = model.encode(batch.source.ids, batch.source.lengths, pass);
  const Var features = model.teacher_forced(batch.inputs, state, pass).features;  // [B,T,F]
  const Index steps = batch.inputs.size(1);
  CrossEntropyOptions options;
  options.reduction = Reduction::sum;
  options.row_weights = Tensor::empty(batch.inputs.shape(), features.dtype());
  std::vector<std::int32_t> targets;
  for (Index i = 0; i < batch.inputs.numel(); ++i) {
    const Index b = i / steps;
    options.row_weights.set(i, batch.weights[static_cast<std::size_t>(b)]);
    targets.push_back(i % steps < batch.target.lengths[b] ? batch.target.ids[i] : options.ignore_index);
  }
  const Linear& output = model.output();
  const auto loss = output.reference ? linear_cross_entropy_reference : linear_cross_entropy;
  auto [objective, nll, count] =
      loss(features, output.weight, output.bias, Ids(std::move(targets), batch.inputs.shape()), options);
  return {std::move(objective), nll};
}

double sentence_reward(const Tokens& translation, const Tokens& reference) {
  BleuOptions options;
  options.smoothing = BleuSmoothing::add_k;
  return bleu(bleu_stats(translation, reference), options).score;
}

SelfCritical::SelfCritical(Run& run, core::Workers& workers, const SelfCriticalOptions& options)
    : run_(run), workers_(workers), options_(options), adam_(run.store->pieces()) {
  require(run.config.dropout == 0, "self-critical training: nothing may be dropped out; given a dropout of {}",
          run.config.dropout);
}

Rewards SelfCritical::operator()(std::span<const SentencePair> pairs, Index update) {
  std::vector<TokenIds> sources;
  for (const SentencePair& pair : pairs) sources.push_back(with_eos(pair.source, run_.source, run_.config.length));
  DecodingOptions decoding;
  decoding.limit = run_.config.length;
  decoding.batch = 16;  // small enough for several threads
  const std::vector<Translation> own = greedy(*run_.model, sources, workers_, decoding);
  decoding.sampling = Sampling{1, 0, run_.config.seed, static_cast<std::uint64_t>(update) << 32};
  std::vector<Translation> sampled = greedy(*run_.model, sources, workers_, decoding);

  Rewards rewards;
  std::vector<Example> examples;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto reward = [&](const Translation& translation) {
      return sentence_reward(run_.target.tokens(translation.ids), pairs[i].target);
    };
    rewards.sampled.push_back(reward(sampled[i]));
    rewards.greedy.push_back(reward(own[i]));
    const double advantage = (rewards.sampled.back() - rewards.greedy.back()) / 100;
    if (advantage == 0) continue;  // and no gradient
    if (sampled[i].ended) sampled[i].ids.push_back(Vocabulary::eos);
    examples.push_back({sources[i], sampled[i].ids, {}, advantage});
  }
  TrainingStep step([&](const Batch& batch, const Pass& pass) { return policy_loss(*run_.model, batch, pass); },
                    *run_.store, adam_, workers_, {options_.shards, static_cast<double>(pairs.size()), options_.clip});
  if (!examples.empty())
    step(all_rows(examples), Pass{true, run_.config.seed, static_cast<std::uint64_t>(update), 0}, options_.lr);
  return rewards;
}

}  // namespace tapestry
