#include "tools/lab.h"

#include "tools/commands.h"

namespace tapestry {

void add_lab(CLI::App& program) {
  CLI::App& lab = *program.add_subcommand("lab", "Experiments of the course, each of which runs within a minute.");
  lab.require_subcommand(1);
  add_lab_compare(lab);
  add_lab_pooling(lab);
}

}  // namespace tapestry
