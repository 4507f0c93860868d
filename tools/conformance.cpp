// tapestry conformance: does the library compute what PyTorch and published models computed?

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "tools/commands.h"
#include "tools/conformance_report.h"
#include "tools/options.h"

namespace tapestry {
namespace {

struct ConformanceOptions {
  std::vector<std::string> directories;
  bool json = false;
};

void run_cases(const ConformanceOptions& options) {
  std::vector<ConformanceRow> rows;
  for (const std::string& directory : options.directories) {
    std::vector<ConformanceRow> found = check_directory(directory);
    require(!found.empty(), "conformance: {} must list cases; it has none", directory);
    std::move(found.begin(), found.end(), std::back_inserter(rows));
  }
  // What a damaged file puts into a message need not be UTF-8.
  fmt::print("{}\n", options.json ? conformance_json(rows).dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
                                  : conformance_text(rows));
  const Index failed = totals(rows).failed;
  require(failed == 0, "conformance: every case that is implemented must pass; {} of {} fail", failed, rows.size());
}

}  // namespace

void add_conformance(CLI::App& program) {
  CLI::App& command = *program.add_subcommand(
      "conformance",
      "Compute the cases of an oracle and compare outputs and gradients with what is expected.\n\n"
      "A table by category, the ops that are not implemented, the functions and classes that computed the others, and\n"
      "for each failure the worst element with both values. The exit status is 1 if a case fails.");
  const auto options = std::make_shared<ConformanceOptions>();
  command.add_option("DIR", options->directories, "Folders with an index.jsonl and, perhaps, a bleu.jsonl")->required();
  add_json(command, options->json);
  command.callback([options] { run_cases(*options); });
}

}  // namespace tapestry
