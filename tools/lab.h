#pragma once
// The experiments of the course, each in one file lab_NAME.cpp that adds itself to `tapestry lab`.

#include <CLI/CLI.hpp>

#include "models/fit.h"

namespace tapestry {

void add_lab_classify(CLI::App& lab);
void add_lab_compare(CLI::App& lab);
void add_lab_complexity(CLI::App& lab);
void add_lab_copy(CLI::App& lab);
void add_lab_lengths(CLI::App& lab);
void add_lab_lm(CLI::App& lab);
void add_lab_pooling(CLI::App& lab);
void add_lab_positions(CLI::App& lab);
void add_lab_residual(CLI::App& lab);
void add_lab_reward(CLI::App& lab);
void add_lab_tag(CLI::App& lab);

/// What every experiment that trains offers: --updates, --lr, --seed, --threads.
void add_fit_options(CLI::App& command, FitOptions& options, int& threads);

/// --out, or another option that names a picture. Errors: those of require_writable_file.
void add_picture(CLI::App& command, std::string& path, const std::string& description = "Picture to write",
                 const std::string& option = "--out");

}  // namespace tapestry
