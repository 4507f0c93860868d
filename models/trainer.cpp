#include "models/trainer.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/files.h"
#include "models/checkpoint.h"
#include "models/not_finite.h"
#include "models/or_null.h"
#include "models/resume.h"
#include "models/training_step.h"

namespace tapestry {
namespace {

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Warns of what is likely to be a mistake when it shows.
class Warnings {
 public:
  Warnings(const Run& run, TrainingListener& listener) : run_(run), listener_(listener) {}

  void at_start(const Schedule::Peak& peak, Index updates) const {
    const RunConfig& config = run_.config;
    if ((config.schedule == "inverse-sqrt" || config.schedule == "noam") && config.warmup > updates)
      listener_.warned(fmt::format("the warm-up takes {} updates, the training has {}", config.warmup, updates));
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

// The first `lines` lines of a file; fewer if it has not so many.
std::string first_lines(const std::string& text, Index lines) {
  std::size_t end = 0;
  for (Index line = 0; line < lines && end < text.size(); ++line)
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  return text.substr(0, end);
}

// How far a run has come, by a line of its metrics.jsonl.
struct Report {
  Index epoch = 0, updates = 0;
};

// The last one of the text of the file; of no lines, one of no updates.
Report last_report(const std::string& path, const std::string& text) {
  if (text.empty()) return {};
  const std::size_t begin = text.size() < 2 ? 0 : text.rfind('\n', text.size() - 2) + 1;
  try {
    const nlohmann::json line = nlohmann::json::parse(text.substr(begin));
    return {line.at("epoch").get<Index>(), line.at("updates").get<Index>()};
  } catch (const nlohmann::json::exception& error) {
    fail(fmt::format("{}: its last line must be a report; {}", path, error.what()));
  }
}

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
        checkpoints_(directory, run.config.keep),
        optimizer_(run.store->pieces(), run.config.adam()),
        step_(*run.model, *run.store, optimizer_, workers,
              {static_cast<std::size_t>(run.config.shards), run.config.divisor, run.config.clip,
               run.config.label_smoothing, run.config.low_memory}) {
    state_.config = run.config;
    state_.train_text = fingerprint(data.train);
    state_.valid_text = fingerprint(data.valid);
  }

  // Takes up the newest checkpoint; without one, begins anew.
  void resume() {
    const std::string reports = std::filesystem::exists(metrics_path()) ? read_file(metrics_path()) : "";
    const Report reached = last_report(metrics_path(), reports);
    checkpoints_.tidy();
    if (auto state = checkpoints_.restore_newest(*run_.store, optimizer_)) {
      state_ = std::move(*state);
      const Index accumulate = run_.config.accumulate, updates = state_.batch / accumulate;
      require(state_.batch % accumulate == 0 && updates < plan_.epoch_updates &&
                  state_.update == state_.epoch * plan_.epoch_updates + updates,
              "{}: must stand where its training can; it is at update {} with {} epochs and {} batches", directory_,
              state_.update, state_.epoch, state_.batch);
      state_.config = run_.config;
    } else {
      // The first checkpoint may have been under way when the first epoch was reported, but not when the second was.
      require(reached.epoch < 2, "{}: must hold a checkpoint to go on from; it reported {} epochs and holds none",
              directory_, reached.epoch);
    }
    // Between the checkpoint and the kill the best model may have been written anew; only updates that come again may
    // have made it.
    const Index least = std::max(reached.updates, state_.update);
    if (plan_.updates < least)
      throw UsageError(
          fmt::format("--epochs, --updates: must not end before update {}, which the run has reached; given {}", least,
                      plan_.updates));
    metrics_ = first_lines(reports, state_.metrics);
    write_atomically(metrics_path(), metrics_);
  }

  bool ended() const { return !stopped().empty(); }

  // Makes at most so many updates; 0: as many as are left.
  TrainingSummary run(Index most) {
    warnings_.at_start(plan_.schedule.peak(), plan_.updates);
    const Index left = plan_.updates - state_.update, end = state_.update + (most > 0 ? std::min(most, left) : left);
    bool saved = true;
    while (!ended() && state_.update < end) saved = advance();
    if (!saved) {
      require_finite();
      checkpoints_.save_last(*run_.store, optimizer_, state_);
    }
    TrainingSummary summary;
    summary.stopped = stopped();
    if (ended()) load_parameters(*run_.store, model_path());
    summary.train_loss = progress().train_loss;
    summary.valid_loss = state_.best_loss;
    summary.valid_bleu = state_.best_bleu;
    if (!plan_.valid.empty()) summary.bleu_signature = bleu_signature(bleu_options(run_));
    summary.peak_rate = plan_.schedule.peak().rate;
    summary.updates = state_.update;
    summary.parameters = run_.store->elements();
    summary.seconds = state_.seconds;
    summary.peak_bytes = state_.peak_bytes;
    summary.tokens_per_second = progress().tokens_per_second;
    summary.seed = run_.config.seed;
    summary.shards = run_.config.shards;
    summary.threads = workers_.threads();
    return summary;
  }

 private:
  std::string metrics_path() const { return directory_ + "/metrics.jsonl"; }
  std::string model_path() const { return directory_ + "/model.safetensors"; }

  // Why training has ended; empty while it has not.
  std::string stopped() const {
    if (run_.config.patience > 0 && state_.stale >= run_.config.patience) return "patience";
    if (state_.update < plan_.updates) return "";
    return plan_.updates == run_.config.epochs * plan_.epoch_updates ? "epochs" : "updates";
  }

  // One update, and what is due after it. Returns whether it ended with a checkpoint.
  bool advance() {
    const RunConfig& config = run_.config;
    if (batches_.empty()) batches_ = micro_batches(config, plan_.train, state_.epoch + 1);
    if (state_.batch == 0) {
      state_.epoch_nll = 0;
      state_.epoch_tokens = 0;
    }
    update();
    const bool epoch_ended = state_.batch == static_cast<Index>(batches_.size());
    if (epoch_ended) {
      ++state_.epoch;
      state_.batch = 0;
      batches_.clear();
    }
    const auto every = [&](Index updates) { return updates > 0 && state_.update % updates == 0; };
    const bool due = config.validate_every > 0 ? every(config.validate_every) : epoch_ended;
    const bool reports = due || state_.update == plan_.updates, saves = epoch_ended || every(config.checkpoint_every);
    if (reports || saves) require_finite();
    if (reports) report();
    state_.peak_bytes = std::max(state_.peak_bytes, peak_resident_bytes());
    if (epoch_ended)
      checkpoints_.save_epoch(*run_.store, optimizer_, state_);
    else if (saves)
      checkpoints_.save_last(*run_.store, optimizer_, state_);
    return saves;
  }

  void update() {
    const Stopwatch watch;
    const auto begin = static_cast<std::size_t>(state_.batch);
    const std::size_t count = std::min(static_cast<std::size_t>(run_.config.accumulate), batches_.size() - begin);
    const Index number = state_.update + 1;
    const Pass pass{true, run_.config.seed, static_cast<std::uint64_t>(number), 0};
    const UpdateResult result =
        step_(std::span(std::as_const(batches_)).subspan(begin, count), pass, plan_.schedule.rate(number));
    if (number == 1) warnings_.at_first_loss(result.nll / static_cast<double>(result.tokens));
    state_.update = number;
    state_.batch += static_cast<Index>(count);
    state_.epoch_nll += result.nll;
    state_.epoch_tokens += result.tokens;
    state_.tokens += result.tokens;
    state_.seconds += watch.seconds();
    listener_.updated(progress());
  }

  // Nothing is made of parameters that the last update broke. Decoding would refuse them too, but not know which.
  void require_finite() const {
    if (const Var* broken = first_not_finite(run_.store->parameters()))
      fail(fmt::format("training: after update {}, parameter {} must be finite; a lower rate may help", state_.update,
                       broken->leaf()->name));
  }

  void report() {
    std::optional<Validation> validation;
    if (!plan_.valid.empty()) {
      validation = run_validation(run_, data_.valid, plan_.valid, run_.config.valid_bleu, workers_);
      require(std::isfinite(validation->loss),
              "training: the validation loss must stay finite; after update {} it is {}", state_.update,
              validation->loss);
      warnings_.at_validation(*validation);
    }
    const bool better = !validation || !state_.best_loss || validation->loss < *state_.best_loss;
    if (better) save_parameters(*run_.store, model_path());
    if (better && validation) {
      state_.best_loss = validation->loss;
      state_.best_bleu.reset();
      if (validation->translated == data_.valid.size()) state_.best_bleu = validation->bleu;
    }
    state_.stale = better ? 0 : state_.stale + 1;
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
                 {"seconds", state_.seconds}});
    metrics_ += line.dump() + "\n";
    ++state_.metrics;
    write_atomically(metrics_path(), metrics_);
  }

  TrainingProgress progress() const {
    const double made = static_cast<double>(state_.update), all = static_cast<double>(plan_.updates);
    return {state_.epoch + (state_.batch > 0 ? 1 : 0),
            run_.config.epochs,
            state_.batch > 0,
            state_.update,
            plan_.updates,
            state_.epoch_nll / static_cast<double>(state_.epoch_tokens),
            plan_.schedule.rate(state_.update),
            static_cast<double>(state_.tokens) / state_.seconds,
            state_.seconds / made * (all - made)};
  }

  Run& run_;
  const RunData& data_;
  const TrainingPlan& plan_;
  core::Workers& workers_;
  const std::string& directory_;
  TrainingListener& listener_;
  Warnings warnings_;
  Checkpoints checkpoints_;
  Adam optimizer_;
  TrainingStep step_;
  TrainingState state_;
  std::vector<MicroBatch> batches_;  // of the epoch that runs
  std::string metrics_;
};

}  // namespace

nlohmann::json to_json(const TrainingSummary& summary) {
  return {{"train_loss", summary.train_loss},
          {"valid_loss", or_null(summary.valid_loss)},
          {"valid_bleu", or_null(summary.valid_bleu)},
          {"bleu_signature", or_null(summary.bleu_signature)},
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
                      const std::string& directory, TrainingListener& listener, const TrainingCall& call) {
  Loop loop(run, data, plan, workers, directory, listener);
  if (call.resume) loop.resume();
  save_run(run, directory);
  const std::string summary_path = directory + "/summary.json";
  // Of a training that goes on, it tells an end that is none any more; else it is that of the process that trained.
  if (!loop.ended()) remove_tree(summary_path);
  TrainingSummary summary = loop.run(call.stop_after);
  if (!loop.ended()) return summary;
  if (data.valid.size() > 0 && !summary.valid_bleu)
    summary.valid_bleu = score_translations(run, data.valid, workers).bleu.score;
  if (!std::filesystem::exists(summary_path)) write_atomically(summary_path, to_json(summary).dump(2) + "\n");
  return summary;
}

}  // namespace tapestry
