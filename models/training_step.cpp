#include "models/training_step.h"

#include <cmath>
#include <numeric>

#include "models/not_finite.h"
#include "optim/clip.h"

namespace tapestry {

TrainingStep::TrainingStep(const EncoderDecoder& model, const ParameterStore& store, Optimizer& optimizer,
                           core::Workers& workers, const TrainingStepOptions& options)
    : TrainingStep([&model, smoothing = options.label_smoothing](
                       const Batch& batch, const Pass& pass) { return sequence_loss(model, batch, pass, smoothing); },
                   store, optimizer, workers, options) {}

TrainingStep::TrainingStep(BatchLoss loss, const ParameterStore& store, Optimizer& optimizer, core::Workers& workers,
                           const TrainingStepOptions& options)
    : loss_(std::move(loss)),
      store_(store),
      optimizer_(optimizer),
      workers_(workers),
      options_(options),
      nll_(options.shards) {
  require(options.shards >= 1, "training: at least one shard is needed; given {}", options.shards);
  const std::size_t buffers = options.low_memory ? 1 : options.shards;
  for (std::size_t s = 0; s < buffers; ++s) gradients_.push_back(store.gradients());
}

void TrainingStep::run_shard(std::size_t shard, std::span<const MicroBatch> batches, Pass pass) {
  nll_[shard] = 0;
  const Index first = pass.first_sentence;
  Index before = 0;  // sentences of the micro-batches so far
  for (const MicroBatch& rows : batches) {
    const std::vector<std::size_t> boundaries = deal(rows, options_.shards);
    const std::size_t begin = boundaries[shard], end = boundaries[shard + 1];
    pass.first_sentence = first + before + static_cast<Index>(begin);
    before += static_cast<Index>(rows.size());
    if (begin == end) continue;
    Tape tape{gradients_[options_.low_memory ? 0 : shard].by_parameter};
    const Batch part = make_batch(std::span(rows).subspan(begin, end - begin));
    const SequenceLoss loss = loss_(part, pass);
    nll_[shard] += loss.nll;
    tape.backward(loss.objective);
  }
}

UpdateResult TrainingStep::operator()(std::span<const MicroBatch> batches, Pass pass, double lr) {
  pass.training = true;
  try {
    return update(batches, pass, lr);
  } catch (...) {
    // What the shards gathered so far must not be added to the next update.
    for (const auto& gradients : gradients_)
      for (const Tensor& piece : gradients.pieces) piece.fill(0);
    throw;
  }
}

UpdateResult TrainingStep::update(std::span<const MicroBatch> batches, const Pass& pass, double lr) {
  const auto run = [&](Index shard) { run_shard(static_cast<std::size_t>(shard), batches, pass); };
  const auto shards = static_cast<Index>(options_.shards);
  if (options_.low_memory) {
    for (Index shard = 0; shard < shards; ++shard) run(shard);
  } else {
    workers_.run(shards, run);
  }

  UpdateResult result;
  for (const MicroBatch& rows : batches)
    for (const Example* row : rows) result.tokens += static_cast<Index>(row->target.size());
  result.nll = std::accumulate(nll_.begin(), nll_.end(), 0.0);
  result.norm = gather_gradients(options_.divisor > 0 ? options_.divisor : static_cast<double>(result.tokens));
  if (!std::isfinite(result.nll) || !std::isfinite(result.norm))
    fail(fmt::format("training: loss and gradient must stay finite; update {} has loss {} and norm {}{}", pass.update,
                     result.nll / static_cast<double>(result.tokens), result.norm, blame(batches, pass)));

  const double factor = options_.clip > 0 ? clip_factor(result.norm, options_.clip) : 1;
  optimizer_.begin();
  workers_.run(static_cast<Index>(gradients_[0].pieces.size()), [&](Index p) {
    const auto piece = static_cast<std::size_t>(p);
    optimizer_.step(piece, gradients_[0].pieces[piece], factor, lr);
  });
  return result;
}

// Leaves the divided sum of all shards with the first and returns its norm.
double TrainingStep::gather_gradients(double divisor) {
  const std::size_t pieces = gradients_[0].pieces.size();
  std::vector<double> squares(pieces);
  workers_.run(static_cast<Index>(pieces), [&](Index p) {
    const auto piece = static_cast<std::size_t>(p);
    std::vector<Tensor> shards;
    for (const auto& gradients : gradients_) shards.push_back(gradients.pieces[piece]);
    squares[piece] = gather(shards, divisor);
  });
  return std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
}

// "; the first op is ..., the first parameter ...", as far as they can be told. Runs the shards once more, watched.
std::string TrainingStep::blame(std::span<const MicroBatch> batches, const Pass& pass) {
  std::string text;
  if (const Var* broken = first_not_finite(store_.parameters()))
    text += fmt::format("; the parameter {} itself is not finite", broken->leaf()->name);
  const auto& slices = gradients_[0].by_parameter.slices;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    if (is_finite(slices[i])) continue;
    text += fmt::format("; the first parameter whose gradient is not is {}", store_.parameters()[i].leaf()->name);
    break;
  }
  FirstNotFinite search;
  const ObserverScope watched(search);
  for (std::size_t shard = 0; shard < options_.shards && search.found().empty(); ++shard)
    run_shard(shard, batches, pass);
  return search.found().empty() ? text : fmt::format("; the first op is {}{}", search.found(), text);
}

}  // namespace tapestry
