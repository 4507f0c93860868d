// tapestry lab pooling: attention as kernel regression.

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "tools/heat_map.h"
#include "tools/lab.h"
#include "tools/line_chart.h"
#include "tools/options.h"
#include "tools/pooling.h"
#include "tools/table.h"

namespace tapestry {
namespace {

struct PoolingCommand {
  PoolingExperimentOptions experiment;
  std::string out, weights;
  bool json = false;
};

void print_json(const PoolingCommand& command, const PoolingExperiment& result) {
  nlohmann::json rows = nlohmann::json::array();
  for (const PoolingFit& fit : result.fits) {
    rows.push_back({{"pooling", fit.name}, {"squared_error", fit.error}, {"width", nullptr}});
    if (std::isfinite(fit.width)) rows.back()["width"] = fit.width;
  }
  fmt::print("{}\n", nlohmann::json{{"rows", rows},
                                    {"points", command.experiment.points},
                                    {"seed", command.experiment.seed},
                                    {"loss_before", result.loss_before},
                                    {"loss_after", result.loss_after}}
                         .dump(2));
}

void print(const PoolingCommand& command, const PoolingExperiment& result) {
  std::vector<std::vector<std::string>> table{{"pooling", "width", "squared error"}};
  for (const PoolingFit& fit : result.fits)
    table.push_back(
        {fit.name, std::isfinite(fit.width) ? fmt::format("{:.3f}", fit.width) : "", fmt::format("{:.4f}", fit.error)});
  fmt::print("{}\n{} of noise {}, seed {}. Leave-one-out loss {:.4f}, after {} {:.4f}\n", format_table(table, "lrr"),
             counted(command.experiment.points, "point"), command.experiment.noise, command.experiment.seed,
             result.loss_before, counted(command.experiment.updates, "update"), result.loss_after);
}

std::string lines(const PoolingExperiment& result) {
  LineChart chart{"Attention pooling", "x", "y", {{"training points", result.x, result.y, true}}};
  chart.series.push_back({"2 sin x + x^0.8", result.at, result.truth});
  for (const PoolingFit& fit : result.fits) chart.series.push_back({fit.name, result.at, fit.y});
  return line_charts_svg({chart});
}

std::string maps(const PoolingExperiment& result) {
  const auto tokens = [](const std::vector<double>& values) {
    Tokens all;
    for (const double value : values) all.push_back(fmt::format("{:.1f}", value));
    return all;
  };
  HeatMapSheet sheet(
      "Weights",
      "0 to 100 % of each row. Across: training points. Down: queries; above, the kernel of width given, "
      "below, learned.");
  for (std::size_t i = 1; i < result.fits.size(); ++i)
    sheet.add({tokens(result.at), tokens(result.x), result.fits[i].weights});
  return sheet.svg();
}

void run(const PoolingCommand& command) {
  require_other_file("--weights", command.weights, "--out", command.out);
  const PoolingExperiment result = pooling_experiment(command.experiment);
  (command.json ? print_json : print)(command, result);
  if (!command.out.empty()) write_atomically(command.out, lines(result));
  if (!command.weights.empty()) write_atomically(command.weights, maps(result));
}

}  // namespace

void add_lab_pooling(CLI::App& lab) {
  CLI::App& command = *lab.add_subcommand(
      "pooling",
      "Attention as regression: noisy points of a curve are averaged alike, by a Gaussian kernel, and by one whose\n"
      "width is learned, each point from all others.");
  const auto options = std::make_shared<PoolingCommand>();
  PoolingExperimentOptions& experiment = options->experiment;
  add_number(command, "--points", experiment.points, "Training points (default: 50)");
  add_number(command, "--noise", experiment.noise, "Standard deviation of their noise (default: 0.5)");
  add_number(command, "--width", experiment.width,
             "Width of the kernel, and where the learned one starts (default: 1)");
  add_number(command, "--updates", experiment.updates, "Steps of gradient descent (default: 200)");
  add_number(command, "--lr", experiment.lr, "Their rate (default: 2)");
  add_number(command, "--seed", experiment.seed, "Seed of the points (default: 1)");
  add_picture(command, options->out, "Draw the curve and the fits");
  add_picture(command, options->weights, "Draw the weights of both kernels", "--weights");
  add_json(command, options->json);
  command.callback([options] { run(*options); });
}

}  // namespace tapestry
