#include "models/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/files.h"
#include "core/safetensors.h"
#include "models/or_null.h"
#include "models/run.h"

namespace tapestry {
namespace {

namespace fs = std::filesystem;

constexpr const char* partial = ".partial";
constexpr const char* state_key = "training";

nlohmann::json to_json(const Fingerprint& text) {
  return {{"pairs", text.pairs}, {"tokens", text.tokens}, {"digest", text.digest}};
}

Fingerprint fingerprint_from_json(const nlohmann::json& json) {
  return {json.at("pairs").get<Index>(), json.at("tokens").get<Index>(), json.at("digest").get<std::string>()};
}

nlohmann::json to_json(const TrainingState& s) {
  return {{"config", to_json(s.config)},
          {"update", s.update},
          {"epoch", s.epoch},
          {"batch", s.batch},
          {"epoch_nll", s.epoch_nll},
          {"epoch_tokens", s.epoch_tokens},
          {"tokens", s.tokens},
          {"seconds", s.seconds},
          {"peak_bytes", s.peak_bytes},
          {"best_loss", or_null(s.best_loss)},
          {"best_bleu", or_null(s.best_bleu)},
          {"stale", s.stale},
          {"metrics", s.metrics},
          {"train_text", to_json(s.train_text)},
          {"valid_text", to_json(s.valid_text)}};
}

TrainingState state_from_json(const nlohmann::json& json) {
  TrainingState s;
  s.config = config_from_json(json.at("config"));
  json.at("update").get_to(s.update);
  json.at("epoch").get_to(s.epoch);
  json.at("batch").get_to(s.batch);
  json.at("epoch_nll").get_to(s.epoch_nll);
  json.at("epoch_tokens").get_to(s.epoch_tokens);
  json.at("tokens").get_to(s.tokens);
  json.at("seconds").get_to(s.seconds);
  json.at("peak_bytes").get_to(s.peak_bytes);
  if (!json.at("best_loss").is_null()) s.best_loss = json.at("best_loss").get<double>();
  if (!json.at("best_bleu").is_null()) s.best_bleu = json.at("best_bleu").get<double>();
  json.at("stale").get_to(s.stale);
  json.at("metrics").get_to(s.metrics);
  s.train_text = fingerprint_from_json(json.at("train_text"));
  s.valid_text = fingerprint_from_json(json.at("valid_text"));
  for (const Index count : {s.update, s.epoch, s.batch, s.epoch_tokens, s.tokens, s.stale, s.metrics})
    require(count >= 0, "its counts must be at least 0; one is {}", count);
  return s;
}

TrainingState state_of(const std::string& path, const SafetensorsFile& file) {
  try {
    return state_from_json(nlohmann::json::parse(file.metadata.at(state_key)));
  } catch (const std::out_of_range&) {
    fail(fmt::format("{}: must hold the state of a training; it has none", path));
  } catch (const std::exception& error) {
    fail(fmt::format("{}: must hold the state of a training; {}", path, error.what()));
  }
}

// Calls f(name, tensor) for each moment.
template <class F>
void for_moments(const Optimizer& optimizer, F f) {
  for (const auto& [name, pieces] : optimizer.state())
    for (std::size_t i = 0; i < pieces.size(); ++i) f(fmt::format("{}.{:05}", name, i), pieces[i]);
}

// The N of "epoch-N"; none of any other name.
std::optional<Index> epoch_of(const std::string& name) {
  constexpr std::string_view prefix = "epoch-";
  if (!name.starts_with(prefix)) return std::nullopt;
  Index epoch = 0;
  const char* const last = name.data() + name.size();
  const auto [end, error] = std::from_chars(name.data() + prefix.size(), last, epoch);
  return error == std::errc() && end == last && epoch > 0 ? std::optional(epoch) : std::nullopt;
}

std::string epoch_name(Index epoch) {
  return fmt::format("epoch-{}", epoch);
}

std::vector<fs::path> entries(const fs::path& directory) {
  std::vector<fs::path> paths;
  std::error_code error;
  fs::directory_iterator entry(directory, error);
  if (error == std::errc::no_such_file_or_directory) return paths;
  for (const fs::directory_iterator end; !error && entry != end; entry.increment(error)) paths.push_back(entry->path());
  // Taken for empty, it would let a training begin anew over what it holds.
  require(!error, "{}: must be a readable directory; {}", directory.string(), error.message());
  return paths;
}

void move_to(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  require(!error, "{}: must be writable; {}", to.string(), error.message());
}

// A name for what has had its time, which `tidy` clears.
std::string old_name(const fs::path& path) {
  return path.string() + ".old" + partial;
}

// First out of sight: a kill in the middle of a removal leaves no checkpoint by halves.
void discard(const fs::path& path) {
  if (fs::exists(path)) move_to(path, old_name(path));
  remove_tree(old_name(path));
}

}  // namespace

void Checkpoints::tidy() const {
  for (const fs::path& path : entries(directory_))
    if (path.extension() == partial) remove_tree(path.string());
}

void Checkpoints::save(const std::string& name, const ParameterStore& store, const Optimizer& optimizer,
                       const TrainingState& state) const {
  const fs::path path = fs::path(directory_) / name, whole(path.string() + partial);
  make_directory(whole.string());
  try {
    save_parameters(store, (whole / "model.safetensors").string());
    SafetensorsFile file;
    for_moments(optimizer, [&](const std::string& key, const Tensor& moment) { file.tensors[key] = moment; });
    file.metadata[state_key] = to_json(state).dump();
    write_safetensors((whole / "state.safetensors").string(), file);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(whole, ignored);
    throw;
  }
  if (!fs::exists(path)) return move_to(whole, path);
  exchange(whole.string(), path.string(), old_name(path));
  remove_tree(whole.string());
}

void Checkpoints::save_epoch(const ParameterStore& store, const Optimizer& optimizer,
                             const TrainingState& state) const {
  save(epoch_name(state.epoch), store, optimizer, state);
  discard(fs::path(directory_) / "last");
  for (Index epoch : epochs())
    if (epoch <= state.epoch - std::max<Index>(keep_, 1)) discard(fs::path(directory_) / epoch_name(epoch));
}

void Checkpoints::save_last(const ParameterStore& store, const Optimizer& optimizer, const TrainingState& state) const {
  save("last", store, optimizer, state);
}

struct Checkpoints::Found {
  fs::path path;
  SafetensorsFile file;  // state.safetensors
  TrainingState state;
};

std::optional<Checkpoints::Found> Checkpoints::find_newest() const {
  std::vector<fs::path> candidates;
  if (const auto made = epochs(); !made.empty()) candidates.push_back(fs::path(directory_) / epoch_name(made.back()));
  if (fs::exists(fs::path(directory_) / "last")) candidates.push_back(fs::path(directory_) / "last");
  std::optional<Found> newest;
  for (const fs::path& candidate : candidates) {
    const std::string path = (candidate / "state.safetensors").string();
    SafetensorsFile file = read_safetensors(path);
    const TrainingState state = state_of(path, file);
    if (!newest || newest->state.update < state.update) newest = Found{candidate, std::move(file), state};
  }
  return newest;
}

std::optional<TrainingState> Checkpoints::newest() const {
  const auto found = find_newest();
  return found ? std::optional(found->state) : std::nullopt;
}

std::optional<TrainingState> Checkpoints::restore_newest(const ParameterStore& store, Optimizer& optimizer) const {
  const auto found = find_newest();
  if (!found) return std::nullopt;
  load_parameters(store, (found->path / "model.safetensors").string());
  for_moments(optimizer, [&](const std::string& key, const Tensor& moment) {
    const auto saved = found->file.tensors.find(key);
    require(saved != found->file.tensors.end() && saved->second.shape() == moment.shape() &&
                saved->second.dtype() == moment.dtype(),
            "{}: must hold the moments of this model; {} is missing or of another shape",
            (found->path / "state.safetensors").string(), key);
    moment.copy_from(saved->second);
  });
  optimizer.set_updates(found->state.update);
  return found->state;
}

std::vector<Index> Checkpoints::epochs() const {
  std::vector<Index> result;
  for (const fs::path& path : entries(directory_))
    if (const auto epoch = epoch_of(path.filename().string())) result.push_back(*epoch);
  std::sort(result.begin(), result.end());
  return result;
}

std::string Checkpoints::parameters_of(Index epoch) const {
  return (fs::path(directory_) / epoch_name(epoch) / "model.safetensors").string();
}

bool holds_only_checkpoints(const std::string& directory) {
  if (!fs::is_directory(directory)) return false;
  const std::vector<fs::path> paths = entries(directory);
  return std::all_of(paths.begin(), paths.end(), [](const fs::path& path) {
    const std::string name = path.filename().string();
    return fs::is_directory(path) && (name == "last" || epoch_of(name) || path.extension() == partial);
  });
}

}  // namespace tapestry
