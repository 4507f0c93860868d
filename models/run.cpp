#include "models/run.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "core/safetensors.h"

namespace tapestry {
namespace {

namespace fs = std::filesystem;

constexpr std::array run_files{"config.json",       "source.vocab",  "target.vocab",
                               "model.safetensors", "metrics.jsonl", "summary.json"};

}  // namespace

Run::Run(RunConfig run_config, Vocabulary source_vocabulary, Vocabulary target_vocabulary, DType dtype)
    : config(std::move(run_config)),
      source(std::move(source_vocabulary)),
      target(std::move(target_vocabulary)),
      store(std::make_unique<ParameterStore>(dtype, config.seed)),
      model(make_model(config.shape(static_cast<Index>(source.size()), static_cast<Index>(target.size())),
                       Scope(*store, config.reference))) {}

void prepare_run_directory(const std::string& directory, bool force) {
  std::error_code error;
  const fs::path path(directory);
  if (fs::exists(path / "config.json", error)) {
    if (!force)
      throw UsageError(
          fmt::format("--out: {} holds a run; give another directory, or --force to replace it", directory));
    // The old run is over: a new configuration must not stand beside an old model. Only files of a run are touched.
    for (const char* name : run_files) {
      fs::remove(path / name, error);
      require(!error, "{}: the old run must be removable; {}", (path / name).string(), error.message());
    }
    return;
  }
  fs::create_directories(path, error);
  require(!error, "{}: must be a directory that can be made; {}", directory, error.message());
  const bool empty = fs::is_empty(path, error);
  require(!error, "{}: must be a readable directory; {}", directory, error.message());
  require(empty, "{}: must be empty or hold a run; it holds other files", directory);
}

void save_run(const Run& run, const std::string& directory) {
  const fs::path path(directory);
  run.source.save((path / "source.vocab").string());
  run.target.save((path / "target.vocab").string());
  write_atomically((path / "config.json").string(), to_json(run.config).dump(2) + "\n");
}

void save_parameters(const ParameterStore& store, const std::string& path) {
  SafetensorsFile file;
  for (const Var& parameter : store.parameters()) file.tensors[parameter.leaf()->name] = parameter.value();
  file.metadata["format"] = "tapestry";
  // A tied weight is saved once; its other names point to it.
  for (const auto& [alias, name] : store.aliases()) file.metadata["alias:" + alias] = name;
  write_safetensors(path, file);
}

void load_parameters(const ParameterStore& store, const std::string& path) {
  SafetensorsFile file = read_safetensors(path);
  std::vector<std::string> missing, unexpected, shaped;
  for (const Var& parameter : store.parameters()) {
    const std::string& name = parameter.leaf()->name;
    const auto found = file.tensors.find(name);
    if (found == file.tensors.end())
      missing.push_back(name);
    else if (found->second.shape() != parameter.shape())
      shaped.push_back(fmt::format("{} {} for {}", name, found->second.shape().text(), parameter.shape().text()));
  }
  for (const auto& entry : file.tensors) {
    const std::string& name = entry.first;
    const auto is_ours = [&](const Var& parameter) { return parameter.leaf()->name == name; };
    if (std::none_of(store.parameters().begin(), store.parameters().end(), is_ours)) unexpected.push_back(name);
  }
  require(missing.empty() && unexpected.empty() && shaped.empty(),
          "{}: must hold the parameters of this model; missing [{}], unexpected [{}], of another shape [{}]", path,
          fmt::join(missing, ", "), fmt::join(unexpected, ", "), fmt::join(shaped, ", "));
  for (const Var& parameter : store.parameters())
    parameter.value().copy_from(file.tensors[parameter.leaf()->name].to(store.dtype()));
}

Run load_run(const std::string& directory) {
  const fs::path path(directory);
  const std::string config_path = (path / "config.json").string();
  RunConfig config;
  try {
    config = config_from_json(nlohmann::json::parse(read_file(config_path)));
    validate(config);
  } catch (const nlohmann::json::exception& error) {
    fail(fmt::format("{}: must be the configuration of a run; {}", config_path, error.what()));
  } catch (const UsageError& error) {
    fail(fmt::format("{}: must be the configuration of a run; {}", config_path, error.what()));
  }
  Run run(std::move(config), Vocabulary::load((path / "source.vocab").string()),
          Vocabulary::load((path / "target.vocab").string()));
  load_parameters(*run.store, (path / "model.safetensors").string());
  return run;
}

}  // namespace tapestry
