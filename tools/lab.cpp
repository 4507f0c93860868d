#include "tools/lab.h"

#include <fmt/ranges.h>

#include "tools/commands.h"
#include "tools/options.h"

namespace tapestry {

void add_fit_options(CLI::App& command, FitOptions& options, int& threads) {
  add_number(command, "--updates", options.updates, fmt::format("Updates (default: {})", options.updates));
  add_number(command, "--lr", options.lr, fmt::format("Rate of Adam, which falls to 0 (default: {})", options.lr));
  add_number(command, "--seed", options.seed, fmt::format("Seed of all that is drawn (default: {})", options.seed));
  add_threads(command, threads);
}

void add_picture(CLI::App& command, std::string& path, const std::string& description, const std::string& option) {
  const auto read = [&path, option](const std::string& given) {
    require_writable_file(option.c_str(), given);
    path = given;
  };
  command.add_option_function<std::string>(option, read, description)->type_name("FILE.svg");
}

void add_lab(CLI::App& program) {
  CLI::App& lab = *program.add_subcommand("lab", "Experiments of the course.");
  lab.require_subcommand(0, 1);  // none is told below: CLI11 would not name the word it does not know
  add_lab_classify(lab);
  add_lab_compare(lab);
  add_lab_complexity(lab);
  add_lab_copy(lab);
  add_lab_lengths(lab);
  add_lab_lm(lab);
  add_lab_pooling(lab);
  add_lab_positions(lab);
  add_lab_residual(lab);
  add_lab_reward(lab);
  add_lab_tag(lab);
  lab.callback([&lab] {
    if (!lab.get_subcommands().empty()) return;
    std::vector<std::string> names;
    for (const CLI::App* experiment : lab.get_subcommands({})) names.push_back(experiment->get_name());
    throw UsageError(fmt::format("lab: must name an experiment, one of {}", fmt::join(names, ", ")));
  });
}

}  // namespace tapestry
