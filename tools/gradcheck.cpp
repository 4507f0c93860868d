// tapestry gradcheck: is every backward the derivative of its forward?

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "autograd/op_checks.h"
#include "models/model_checks.h"
#include "nn/layer_checks.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/table.h"

namespace tapestry {
namespace {

struct Check {
  std::string kind;
  NamedCheck check;
};

std::vector<Check> all_checks() {
  std::vector<Check> checks;
  const auto add_cases = [&](const char* kind, const std::vector<GradcheckCase>& cases) {
    for (const GradcheckCase& one : cases) checks.push_back({kind, {one.name, [one] { return gradcheck(one); }}});
  };
  const auto add = [&](const char* kind, const std::vector<NamedCheck>& named) {
    for (const NamedCheck& check : named) checks.push_back({kind, check});
  };
  add_cases("op", op_checks());
  add("layer", layer_checks());
  add("model", model_checks());
  return checks;
}

/// A pattern with *, ? or [ stands for the whole name, any other for a part of it.
bool matches(const std::string& name, const std::string& pattern) {
  if (pattern.find_first_of("*?[") == std::string::npos) return name.find(pattern) != std::string::npos;
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

std::vector<Check> chosen_checks(const std::string& pattern) {
  std::vector<Check> checks = all_checks();
  std::erase_if(checks, [&](const Check& check) { return !matches(check.check.name, pattern); });
  if (checks.empty()) throw UsageError(fmt::format("gradcheck: no op, layer or model matches {}", pattern));
  return checks;
}

nlohmann::json to_json(const Check& check, const GradcheckReport& report) {
  return {{"name", check.check.name},  {"kind", check.kind},    {"passed", report.passed},  {"error", report.worst},
          {"checked", report.checked}, {"kinks", report.kinks}, {"message", report.message}};
}

struct GradcheckOptionsGiven {
  std::string pattern;
  bool json = false;
};

void run_checks(const GradcheckOptionsGiven& options) {
  const std::vector<Check> checks = chosen_checks(options.pattern);
  std::size_t width = 4;
  for (const Check& check : checks) width = std::max(width, display_width(check.check.name));
  if (!options.json)
    fmt::print("{:8}  {}  {:>8}  {:>5}  {:>11}\n", "kind", padded("name", width), "elements", "kinks", "worst error");
  nlohmann::json rows = nlohmann::json::array();
  std::size_t failed = 0;
  for (const Check& check : checks) {
    const GradcheckReport report = check.check.run();
    if (!report.passed) ++failed;
    if (options.json) {
      rows.push_back(to_json(check, report));
      continue;
    }
    fmt::print("{:8}  {}  {:>8}  {:>5}  {:>11.1e}  {}\n", check.kind, padded(check.check.name, width), report.checked,
               report.kinks, report.worst, report.passed ? "ok" : "FAILED: " + report.message);
    std::fflush(stdout);
  }
  const std::size_t passed = checks.size() - failed;
  if (options.json)
    fmt::print("{}\n", nlohmann::json{{"rows", rows}, {"passed", passed}, {"failed", failed}}.dump(2));
  else
    fmt::print("{} passed, {} failed\n", passed, failed);
  require(failed == 0, "gradcheck: every gradient must be right; {} of {} are wrong", failed, checks.size());
}

}  // namespace

void add_gradcheck(CLI::App& program) {
  CLI::App& command = *program.add_subcommand(
      "gradcheck",
      "Compare the gradients of every op, layer and model with central differences in f64.\n\n"
      "A row each: elements compared, points left out because a kink lies there, the worst error and the verdict.\n"
      "The exit status is 1 if one fails.");
  const auto options = std::make_shared<GradcheckOptionsGiven>();
  command.add_option("PATTERN", options->pattern,
                     "Only names that hold this text or, with *, ? or [, match it as a whole");
  add_json(command, options->json);
  command.callback([options] { run_checks(*options); });
}

}  // namespace tapestry
