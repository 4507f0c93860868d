#include "models/trainer.h"

#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "models/training_step.h"
#include "optim/schedule.h"

namespace tapestry {
namespace {

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

nlohmann::json or_null(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

// The lowest validation loss so far, and the parameters that reached it.
class Best {
 public:
  explicit Best(const ParameterStore& store) : pieces_(store.pieces()) {}
  bool offer(double loss) {
    if (loss_ && !(loss < *loss_)) return false;
    loss_ = loss;
    kept_.clear();
    for (const Tensor& piece : pieces_) kept_.push_back(piece.clone());
    return true;
  }
  void restore() const {
    for (std::size_t i = 0; i < kept_.size(); ++i) pieces_[i].copy_from(kept_[i]);
  }
  std::optional<double> loss() const { return loss_; }

 private:
  std::vector<Tensor> pieces_, kept_;
  std::optional<double> loss_;
};

// One training run on its way through the epochs.
class Loop {
 public:
  Loop(Run& run, const RunData& data, core::Workers& workers, const std::string& directory,
       const TrainingListener& listener)
      : run_(run),
        workers_(workers),
        directory_(directory),
        listener_(listener),
        train_(examples(data.train, run.source, run.target, run.config.length)),
        valid_(examples(data.valid, run.source, run.target, run.config.length)),
        optimizer_(run.store->pieces()),
        step_(*run.model, *run.store, optimizer_, workers,
              {static_cast<std::size_t>(run.config.shards), run.config.divisor, run.config.clip}),
        best_(*run.store) {
    require(!train_.empty(), "training: at least one pair is needed; given none");
    progress_.epochs = run.config.epochs;
    const Index batch = run.config.batch, sentences = static_cast<Index>(train_.size());
    progress_.updates = run.config.epochs * ((sentences + batch - 1) / batch);
  }

  TrainingSummary run() {
    std::string metrics;
    for (Index epoch = 1; epoch <= run_.config.epochs; ++epoch) {
      train_epoch(epoch);
      progress_.valid_loss.reset();
      if (!valid_.empty()) {
        progress_.valid_loss = mean_loss(*run_.model, valid_, workers_);
        require(std::isfinite(*progress_.valid_loss),
                "training: the validation loss must stay finite; after epoch {} it is {}", epoch,
                *progress_.valid_loss);
      }
      if (!progress_.valid_loss || best_.offer(*progress_.valid_loss))
        save_parameters(*run_.store, directory_ + "/model.safetensors");
      metrics += nlohmann::json{{"epoch", epoch},
                                {"updates", progress_.update},
                                {"train_loss", progress_.train_loss},
                                {"valid_loss", or_null(progress_.valid_loss)},
                                {"tokens_per_second", progress_.tokens_per_second},
                                {"seconds", seconds_}}
                     .dump() +
                 "\n";
      write_atomically(directory_ + "/metrics.jsonl", metrics);
      progress_.epoch_ended = true;
      listener_(progress_);
      progress_.epoch_ended = false;
    }
    best_.restore();
    return {progress_.train_loss,
            best_.loss(),
            std::nullopt,
            progress_.update,
            run_.store->elements(),
            seconds_,
            static_cast<double>(tokens_) / seconds_,
            0,
            run_.config.seed,
            run_.config.shards,
            workers_.threads()};
  }

 private:
  void train_epoch(Index epoch) {
    progress_.epoch = epoch;
    double nll = 0;
    Index tokens = 0;
    for (const auto& batch : epoch_batches(train_, static_cast<std::size_t>(run_.config.batch), run_.config.bucket,
                                           run_.config.seed, epoch)) {
      const Stopwatch watch;
      ++progress_.update;
      const double lr = run_.config.lr * schedule_factor(run_.config.schedule, progress_.update, progress_.updates);
      const Pass pass{true, run_.config.seed, static_cast<std::uint64_t>(progress_.update), 0};
      const UpdateResult result = step_(batch, pass, lr);
      nll += result.nll;
      tokens += result.tokens;
      tokens_ += result.tokens;
      seconds_ += watch.seconds();
      progress_.train_loss = nll / static_cast<double>(tokens);
      progress_.tokens_per_second = static_cast<double>(tokens_) / seconds_;
      progress_.seconds_left =
          seconds_ / static_cast<double>(progress_.update) * static_cast<double>(progress_.updates - progress_.update);
      listener_(progress_);
    }
  }

  Run& run_;
  core::Workers& workers_;
  const std::string& directory_;
  const TrainingListener& listener_;
  std::vector<Example> train_, valid_;
  Adam optimizer_;
  TrainingStep step_;
  Best best_;
  TrainingProgress progress_;
  double seconds_ = 0;
  Index tokens_ = 0;
};

}  // namespace

nlohmann::json to_json(const TrainingSummary& summary) {
  return {{"train_loss", summary.train_loss},
          {"valid_loss", or_null(summary.valid_loss)},
          {"valid_bleu", or_null(summary.valid_bleu)},
          {"updates", summary.updates},
          {"parameters", summary.parameters},
          {"seconds", summary.seconds},
          {"tokens_per_second", summary.tokens_per_second},
          {"peak_bytes", summary.peak_bytes},
          {"seed", summary.seed},
          {"shards", summary.shards},
          {"threads", summary.threads},
          {"version", TAPESTRY_VERSION}};
}

std::size_t peak_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

TrainingSummary train(Run& run, const RunData& data, core::Workers& workers, const std::string& directory,
                      const TrainingListener& listener) {
  save_run(run, directory);
  TrainingSummary summary = Loop(run, data, workers, directory, listener).run();
  if (data.valid.size() > 0) summary.valid_bleu = evaluate(run, data.valid, workers).bleu.score;
  summary.peak_bytes = peak_resident_bytes();
  write_atomically(directory + "/summary.json", to_json(summary).dump(2) + "\n");
  return summary;
}

}  // namespace tapestry
