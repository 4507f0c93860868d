#include "models/trainer.h"

#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "models/training_step.h"

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

// Warns of what is likely to be a mistake when it shows.
class Warnings {
 public:
  Warnings(const Run& run, TrainingListener& listener) : run_(run), listener_(listener) {}

  void at_start(const Schedule::Peak& peak) const {
    constexpr double highest = 0.01;
    if (peak.rate > highest)
      listener_.warned(fmt::format("the rate reaches {:.3g} at update {}; Adam seldom learns above {}", peak.rate,
                                   peak.update, highest));
  }
  void at_first_loss(double loss) const {
    const double uniform = std::log(static_cast<double>(run_.target.size()));
    if (loss > 1.5 * uniform)
      listener_.warned(
          fmt::format("the first loss is {:.2f}, far above {:.2f}, that of {} equally likely words; "
                      "look at the initialisation and at the data",
                      loss, uniform, run_.target.size()));
  }
  void at_validation(const Validation& validation) const {
    if (validation.stuck)
      listener_.warned(fmt::format("all {} validation sentences have the same translation", validation.translated));
  }

 private:
  const Run& run_;
  TrainingListener& listener_;
};

// One training run on its way through the updates.
class Loop {
 public:
  Loop(Run& run, const RunData& data, const TrainingPlan& plan, core::Workers& workers, const std::string& directory,
       TrainingListener& listener)
      : run_(run),
        data_(data),
        plan_(plan),
        workers_(workers),
        directory_(directory),
        listener_(listener),
        warnings_(run, listener),
        optimizer_(run.store->pieces(), run.config.adam()),
        step_(*run.model, *run.store, optimizer_, workers,
              {static_cast<std::size_t>(run.config.shards), run.config.divisor, run.config.clip,
               run.config.label_smoothing}) {}

  TrainingSummary run() {
    warnings_.at_start(plan_.schedule.peak());
    while (stopped().empty()) train_epoch();
    load_parameters(*run_.store, directory_ + "/model.safetensors");
    return {progress().train_loss,
            best_loss_,
            std::nullopt,
            stopped(),
            plan_.schedule.peak().rate,
            update_,
            run_.store->elements(),
            seconds_,
            static_cast<double>(tokens_) / seconds_,
            0,
            run_.config.seed,
            run_.config.shards,
            workers_.threads()};
  }

 private:
  // Why training has ended; empty while it has not.
  std::string stopped() const {
    if (run_.config.patience > 0 && stale_ >= run_.config.patience) return "patience";
    if (update_ < plan_.updates) return "";
    return plan_.updates == run_.config.epochs * plan_.epoch_updates ? "epochs" : "updates";
  }

  void train_epoch() {
    ++epoch_;
    epoch_nll_ = 0;
    epoch_tokens_ = 0;
    const std::vector<Rows> batches = micro_batches(run_.config, plan_.train, epoch_);
    const auto each = static_cast<std::size_t>(run_.config.accumulate);
    for (std::size_t begin = 0; begin < batches.size() && stopped().empty(); begin += each) {
      const std::size_t count = std::min(each, batches.size() - begin);
      update(std::span(batches).subspan(begin, count));
      const Index every = run_.config.validate_every > 0 ? run_.config.validate_every : plan_.epoch_updates;
      const bool due = run_.config.validate_every > 0 ? update_ % every == 0 : begin + count == batches.size();
      if (due || update_ == plan_.updates) report();
    }
  }

  void update(std::span<const Rows> batches) {
    const Stopwatch watch;
    ++update_;
    const Pass pass{true, run_.config.seed, static_cast<std::uint64_t>(update_), 0};
    const UpdateResult result = step_(batches, pass, plan_.schedule.rate(update_));
    if (update_ == 1) warnings_.at_first_loss(result.nll / static_cast<double>(result.tokens));
    epoch_nll_ += result.nll;
    epoch_tokens_ += result.tokens;
    tokens_ += result.tokens;
    seconds_ += watch.seconds();
    listener_.updated(progress());
  }

  void report() {
    std::optional<Validation> validation;
    if (!plan_.valid.empty()) {
      validation = run_validation(run_, data_.valid, plan_.valid, run_.config.valid_bleu, workers_);
      require(std::isfinite(validation->loss),
              "training: the validation loss must stay finite; after update {} it is {}", update_, validation->loss);
      warnings_.at_validation(*validation);
    }
    const bool better = !validation || !best_loss_ || validation->loss < *best_loss_;
    if (better) save_parameters(*run_.store, directory_ + "/model.safetensors");
    if (better && validation) best_loss_ = validation->loss;
    stale_ = better ? 0 : stale_ + 1;
    write_metrics(validation);
    listener_.reported(progress(), validation);
  }

  void write_metrics(const std::optional<Validation>& validation) {
    const TrainingProgress now = progress();
    nlohmann::json line = validation ? to_json(*validation) : nlohmann::json{{"valid_loss", nullptr}};
    line.update({{"epoch", now.epoch},
                 {"updates", now.update},
                 {"train_loss", now.train_loss},
                 {"rate", now.rate},
                 {"tokens_per_second", now.tokens_per_second},
                 {"seconds", seconds_}});
    metrics_ += line.dump() + "\n";
    write_atomically(directory_ + "/metrics.jsonl", metrics_);
  }

  TrainingProgress progress() const {
    const double made = static_cast<double>(update_), all = static_cast<double>(plan_.updates);
    return {epoch_,
            run_.config.epochs,
            update_,
            plan_.updates,
            epoch_nll_ / static_cast<double>(epoch_tokens_),
            plan_.schedule.rate(update_),
            static_cast<double>(tokens_) / seconds_,
            seconds_ / made * (all - made)};
  }

  Run& run_;
  const RunData& data_;
  const TrainingPlan& plan_;
  core::Workers& workers_;
  const std::string& directory_;
  TrainingListener& listener_;
  Warnings warnings_;
  Adam optimizer_;
  TrainingStep step_;
  Index epoch_ = 0, update_ = 0, stale_ = 0;  // stale: validations since the best
  double epoch_nll_ = 0, seconds_ = 0;
  Index epoch_tokens_ = 0, tokens_ = 0;
  std::optional<double> best_loss_;
  std::string metrics_;
};

}  // namespace

nlohmann::json to_json(const TrainingSummary& summary) {
  return {{"train_loss", summary.train_loss},
          {"valid_loss", or_null(summary.valid_loss)},
          {"valid_bleu", or_null(summary.valid_bleu)},
          {"stopped", summary.stopped},
          {"peak_rate", summary.peak_rate},
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

TrainingSummary train(Run& run, const RunData& data, const TrainingPlan& plan, core::Workers& workers,
                      const std::string& directory, TrainingListener& listener) {
  save_run(run, directory);
  TrainingSummary summary = Loop(run, data, plan, workers, directory, listener).run();
  if (data.valid.size() > 0) summary.valid_bleu = evaluate(run, data.valid, workers).bleu.score;
  summary.peak_bytes = peak_resident_bytes();
  write_atomically(directory + "/summary.json", to_json(summary).dump(2) + "\n");
  return summary;
}

}  // namespace tapestry
