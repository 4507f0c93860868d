// tapestry average: one model from the last checkpoints of a training.

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/files.h"
#include "models/checkpoint.h"
#include "models/run.h"
#include "models/run_directory.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/table.h"

namespace tapestry {
namespace {

struct AverageOptions {
  std::string directory;
  std::optional<std::string> out;
  Index last = 10;
  bool force = false;
};

/// Whether a run in `out` would be written over that in `directory`: it is the same one, or the place where
/// RunDirectory prepares it.
bool writes_over(const std::string& out, const std::string& directory) {
  std::error_code error;
  const std::string path = std::filesystem::canonical(out, error).string();
  if (error) return false;
  const auto is_run = [&](const std::string& name) { return std::filesystem::equivalent(name, directory, error); };
  return is_run(path) || is_run(path + ".new");
}

/// The epochs to be averaged. Errors: there are fewer checkpoints.
std::vector<Index> last_epochs(const Checkpoints& checkpoints, const AverageOptions& options) {
  std::vector<Index> epochs = checkpoints.epochs();
  require(static_cast<Index>(epochs.size()) >= options.last, "{}: must hold {} epoch checkpoints; it holds {}",
          options.directory, options.last, epochs.size());
  epochs.erase(epochs.begin(), epochs.end() - static_cast<std::ptrdiff_t>(options.last));
  return epochs;
}

/// Leaves the mean with the store's parameters, summed in f64.
void average(const ParameterStore& store, const Checkpoints& checkpoints, const std::vector<Index>& epochs) {
  std::vector<Tensor> sums;
  for (const Var& parameter : store.parameters()) sums.push_back(Tensor::zeros(parameter.shape(), DType::f64));
  for (Index epoch : epochs) {
    load_parameters(store, checkpoints.parameters_of(epoch));
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const Tensor value = store.parameters()[i].value().to(DType::f64);
      double* const sum = sums[i].data<double>();
      for (Index k = 0; k < sums[i].numel(); ++k)
        sum[k] += value.data<double>()[k] / static_cast<double>(epochs.size());
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i) store.parameters()[i].value().copy_from(sums[i].to(store.dtype()));
}

void save_summary(const ParameterStore& store, const std::string& run, const std::vector<Index>& epochs,
                  const std::string& directory) {
  const nlohmann::json summary{{"averaged_run", run},
                               {"averaged_epochs", epochs},
                               {"parameters", store.elements()},
                               {"version", TAPESTRY_VERSION}};
  write_atomically(directory + "/summary.json", summary.dump(2) + "\n");
}

void run_average(const AverageOptions& options) {
  if (options.last < 1) throw UsageError(fmt::format("--last: must be at least 1; given {}", options.last));
  require_named("average: DIR must name a run directory", options.directory);
  if (options.out) require_named("--out: must name a directory", *options.out);
  std::error_code error;
  const std::string path = std::filesystem::canonical(options.directory, error).string();
  require(!error, "{}: must be a run directory; {}", options.directory, error.message());
  require_utf8_path("average: DIR", path);
  const std::string out = options.out.value_or(path + "-averaged");
  if (writes_over(out, options.directory))
    throw UsageError(fmt::format("--out: must not be the training that is averaged; given {}", out));
  const Run run = load_run(options.directory);
  const Checkpoints checkpoints(options.directory, run.config.keep);
  const std::vector<Index> epochs = last_epochs(checkpoints, options);
  average(*run.store, checkpoints, epochs);
  RunDirectory directory(out, options.force);
  save_run(run, directory.path());
  save_parameters(*run.store, directory.path() + "/model.safetensors");
  save_summary(*run.store, path, epochs, directory.path());
  directory.finish();
  fmt::print("the mean of {}, epochs {} to {}: {}\n", counted(options.last, "checkpoint"), epochs.front(),
             epochs.back(), out);
}

}  // namespace

void add_average(CLI::App& program) {
  CLI::App& command = *program.add_subcommand(
      "average",
      "Make a run whose parameters are the mean of those at the ends of the last epochs (Vaswani et al. 2017, section\n"
      "6.1). Such a model usually translates better than any of them.");
  const auto options = std::make_shared<AverageOptions>();
  command.add_option("DIR", options->directory, "Run directory of the training")->required();
  add_number(command, "--last", options->last, "How many epochs (default: 10)");
  command.add_option("--out", options->out, "Run directory to make (default: DIR-averaged)")->type_name("DIR");
  command.add_flag("--force", options->force, "Replace the run in --out");
  command.callback([options] { run_average(*options); });
}

}  // namespace tapestry
