// tapestry lab compare: which choices of the course matter, at an equal budget and with several seeds?

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "tools/lab.h"
#include "tools/line_chart.h"
#include "tools/options.h"
#include "tools/table.h"
#include "tools/variants.h"

namespace tapestry {
namespace {

struct CompareLab {
  std::vector<std::string> names;
  VariantsOptions training;
  std::string out;
  int threads = 1;
  bool json = false;
};

struct Row {
  Variant variant;
  std::vector<VariantOutcome> outcomes;  // of each seed

  Estimate of(double VariantOutcome::*figure) const {
    std::vector<double> values;
    for (const VariantOutcome& outcome : outcomes) values.push_back(outcome.*figure);
    return estimate(values);
  }
};

std::vector<std::string> variant_names() {
  std::vector<std::string> names;
  for (const Variant& variant : variants()) names.push_back(variant.name);
  return names;
}

void check(const CompareLab& lab) {
  for (const std::string& name : lab.names) require_one_of("lab compare", name, variant_names());
  require_within("--updates", lab.training.updates, 1, 1'000'000);
  require_within("--seeds", lab.training.seeds, 1, 30);
}

// A single seed has no interval.
std::string with_interval(const Row& row, double VariantOutcome::*figure, int places) {
  const Estimate estimate = row.of(figure);
  const std::string mean = fmt::format("{:.{}f}", estimate.mean, places);
  return row.outcomes.size() == 1 ? mean : fmt::format("{} ± {:.{}f}", mean, estimate.half, places);
}

void print(const CompareLab& lab, const std::vector<Row>& rows) {
  std::vector<std::vector<std::string>> table{{"variant", "loss", "BLEU", "seconds", "parameters", ""}};
  for (const Row& row : rows)
    table.push_back({row.variant.name, with_interval(row, &VariantOutcome::loss, 3),
                     with_interval(row, &VariantOutcome::bleu, 1), with_interval(row, &VariantOutcome::seconds, 1),
                     grouped(row.outcomes[0].parameters), row.variant.description});
  fmt::print("{}{}, {}; {}; loss in nats per target token of the test part, greedy BLEU\n",
             format_table(table, "lrrrrl"), counted(lab.training.updates, "update"),
             counted(lab.training.seeds, "seed"), lab.training.seeds == 1 ? "no interval" : "means and 95 % intervals");
}

nlohmann::json to_json(const CompareLab& lab, const std::vector<Row>& rows) {
  nlohmann::json list = nlohmann::json::array();
  for (const Row& row : rows) {
    const auto figure = [&](double VariantOutcome::*which) {
      const Estimate estimate = row.of(which);
      nlohmann::json figures{{"mean", estimate.mean}, {"half_interval", nullptr}};
      if (row.outcomes.size() > 1) figures["half_interval"] = estimate.half;
      return figures;
    };
    list.push_back({{"variant", row.variant.name},
                    {"base", row.variant.base},
                    {"loss", figure(&VariantOutcome::loss)},
                    {"bleu", figure(&VariantOutcome::bleu)},
                    {"seconds", figure(&VariantOutcome::seconds)},
                    {"parameters", row.outcomes[0].parameters}});
  }
  return {{"rows", list}, {"updates", lab.training.updates}, {"seeds", lab.training.seeds}};
}

// Of each base a chart: BLEU across, a line a variant, from one end of its interval to the other.
std::string picture(const std::vector<Row>& rows) {
  std::vector<LineChart> charts;
  for (const Row& row : rows) {
    if (charts.empty() || charts.back().title != row.variant.base)
      charts.push_back({row.variant.base, "BLEU, mean and 95 % interval", "variant", {}});
    const Estimate bleu = row.of(&VariantOutcome::bleu);
    const auto number = static_cast<double>(charts.back().series.size() + 1);
    charts.back().series.push_back({fmt::format("{:.0f} {}", number, row.variant.name),
                                    {bleu.mean - bleu.half, bleu.mean, bleu.mean + bleu.half},
                                    {number, number, number}});
  }
  return line_charts_svg(charts);
}

void compare(const CompareLab& lab) {
  check(lab);
  core::Workers workers(lab.threads);
  std::vector<Row> rows;
  for (const Variant& variant : variants()) {
    if (!lab.names.empty() && std::count(lab.names.begin(), lab.names.end(), variant.name) == 0) continue;
    rows.push_back({variant, {}});
    for (Index seed = 1; seed <= lab.training.seeds; ++seed)
      rows.back().outcomes.push_back(run_variant(variant, lab.training, static_cast<std::uint64_t>(seed), workers));
  }
  if (!lab.out.empty()) write_atomically(lab.out, picture(rows));
  if (lab.json)
    fmt::print("{}\n", to_json(lab, rows).dump(2));
  else
    print(lab, rows);
}

}  // namespace

void add_lab_compare(CLI::App& lab) {
  CLI::App& command = *lab.add_subcommand(
      "compare",
      "Train variants of the two models on the built-in corpus at an equal budget, with several seeds, and compare\n"
      "loss, BLEU, time and size. All of them take some minutes.");
  const auto options = std::make_shared<CompareLab>();
  command.add_option("name", options->names, fmt::format("Which: {} (default: all)", fmt::join(variant_names(), ", ")))
      ->type_name("NAME");
  add_number(command, "--updates", options->training.updates, "Updates of each training (default: 400)");
  add_number(command, "--seeds", options->training.seeds,
             "Trainings of each variant, with seeds 1, 2, ... (default: 3)");
  add_picture(command, options->out);
  add_threads(command, options->threads);
  add_json(command, options->json);
  command.callback([options] { compare(*options); });
}

}  // namespace tapestry
