#include "models/training_step.h"

#include <cmath>
#include <numeric>

#include "models/sequence_loss.h"
#include "optim/clip.h"

namespace tapestry {

TrainingStep::TrainingStep(const EncoderDecoder& model, const ParameterStore& store, Optimizer& optimizer,
                           core::Workers& workers, const TrainingStepOptions& options)
    : model_(model), optimizer_(optimizer), workers_(workers), options_(options), nll_(options.shards) {
  require(options.shards >= 1, "training: at least one shard is needed; given {}", options.shards);
  for (std::size_t s = 0; s < options.shards; ++s) gradients_.push_back(store.gradients());
}

void TrainingStep::run_shard(std::size_t shard, std::span<const Example* const> rows, Pass pass) {
  nll_[shard] = 0;
  if (rows.empty()) return;
  Tape tape{gradients_[shard].by_parameter};
  const SequenceLoss loss = sequence_loss(model_, make_batch(rows), pass);
  nll_[shard] = loss.nll;
  tape.backward(loss.objective);
}

UpdateResult TrainingStep::operator()(std::span<const Example* const> rows, Pass pass, double lr) {
  pass.training = true;
  try {
    return update(rows, pass, lr);
  } catch (...) {
    // What the shards gathered so far must not be added to the next update.
    for (const auto& gradients : gradients_)
      for (const Tensor& piece : gradients.pieces) piece.fill(0);
    throw;
  }
}

UpdateResult TrainingStep::update(std::span<const Example* const> rows, const Pass& pass, double lr) {
  const std::vector<std::size_t> boundaries = deal(rows, options_.shards);
  workers_.run(static_cast<Index>(options_.shards), [&](Index s) {
    const auto shard = static_cast<std::size_t>(s);
    Pass mine = pass;
    mine.first_sentence = static_cast<Index>(boundaries[shard]);
    run_shard(shard, rows.subspan(boundaries[shard], boundaries[shard + 1] - boundaries[shard]), mine);
  });

  UpdateResult result;
  for (const Example* row : rows) result.tokens += static_cast<Index>(row->target.size());
  result.nll = std::accumulate(nll_.begin(), nll_.end(), 0.0);

  const double divisor = options_.divisor > 0 ? options_.divisor : static_cast<double>(result.tokens);
  const std::size_t pieces = gradients_[0].pieces.size();
  std::vector<double> squares(pieces);
  workers_.run(static_cast<Index>(pieces), [&](Index p) {
    const auto piece = static_cast<std::size_t>(p);
    std::vector<Tensor> shards;
    for (const auto& gradients : gradients_) shards.push_back(gradients.pieces[piece]);
    squares[piece] = gather(shards, divisor);
  });
  result.norm = std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
  require(std::isfinite(result.nll) && std::isfinite(result.norm),
          "training: loss and gradient must stay finite; update {} has loss {} and norm {}", pass.update,
          result.nll / static_cast<double>(result.tokens), result.norm);

  const double factor = options_.clip > 0 ? clip_factor(result.norm, options_.clip) : 1;
  optimizer_.begin();
  workers_.run(static_cast<Index>(pieces), [&](Index p) {
    const auto piece = static_cast<std::size_t>(p);
    optimizer_.step(piece, gradients_[0].pieces[piece], factor, lr);
  });
  return result;
}

}  // namespace tapestry
