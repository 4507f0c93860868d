#pragma once
// The experiments of the course, each in one file lab_NAME.cpp that adds itself to `tapestry lab`.

#include <CLI/CLI.hpp>

namespace tapestry {

void add_lab_compare(CLI::App& lab);
void add_lab_pooling(CLI::App& lab);

}  // namespace tapestry
