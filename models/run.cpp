#include "models/run.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "core/safetensors.h"
#include "models/not_finite.h"

namespace tapestry {
namespace {

namespace fs = std::filesystem;

Segmenter load_subwords(const std::string& path, const Run& run) {
  if (!Subwords::available()) Subwords("");  // says what to install
  const std::string model = read_file(path);
  try {
    Subwords subwords(model);
    require(Vocabulary({subwords.pieces()}, 1).size() == run.source.size(),
            "it must hold the pieces of source.vocab; it holds {}", subwords.pieces().size());
    return Segmenter(std::move(subwords));
  } catch (const Error& error) {
    fail(fmt::format("{}: must be the subwords of a run; {}", path, error.what()));
  }
}

}  // namespace

Run::Run(RunConfig run_config, Vocabulary source_vocabulary, Vocabulary target_vocabulary, DType dtype)
    : config(std::move(run_config)),
      source(std::move(source_vocabulary)),
      target(std::move(target_vocabulary)),
      segmenter(config.tokenizer),
      store(std::make_unique<ParameterStore>(dtype, config.seed)),
      model(make_model(config.shape(static_cast<Index>(source.size()), static_cast<Index>(target.size())),
                       Scope(*store, config.reference))) {}

void save_run(const Run& run, const std::string& directory) {
  const fs::path path(directory);
  run.source.save((path / "source.vocab").string());
  run.target.save((path / "target.vocab").string());
  if (const Subwords* subwords = run.segmenter.subwords())
    write_atomically((path / "subwords.model").string(), subwords->model());
  write_atomically((path / "config.json").string(), to_json(run.config).dump(2) + "\n");
}

void save_parameters(const ParameterStore& store, const std::string& path) {
  if (const Var* broken = first_not_finite(store.parameters()))
    fail(fmt::format("training: parameters must stay finite; {} did not. A lower rate may help", broken->leaf()->name));
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
  if (const Var* broken = first_not_finite(store.parameters()))
    fail(fmt::format("{}: parameters must be finite; {} is not", path, broken->leaf()->name));
}

RunConfig load_config(const std::string& directory) {
  const std::string path = (fs::path(directory) / "config.json").string();
  const std::string text = read_file(path);
  try {
    RunConfig config = config_from_json(nlohmann::json::parse(text));
    validate(config);
    return config;
  } catch (const nlohmann::json::exception& error) {
    fail(fmt::format("{}: must be the configuration of a run; {}", path, error.what()));
  } catch (const Error& error) {
    fail(fmt::format("{}: must be the configuration of a run; {}", path, error.what()));
  }
}

Run load_run(const std::string& directory) {
  const fs::path path(directory);
  RunConfig config = load_config(directory);
  Run run(std::move(config), Vocabulary::load((path / "source.vocab").string()),
          Vocabulary::load((path / "target.vocab").string()));
  if (run.config.subwords > 0) run.segmenter = load_subwords((path / "subwords.model").string(), run);
  load_parameters(*run.store, (path / "model.safetensors").string());
  return run;
}

}  // namespace tapestry
