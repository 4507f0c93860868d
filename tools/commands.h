#pragma once
// The subcommands of the program, one file each. Each adds itself to the program: its options, its help, and as
// callback what it does. A failure is an exception; main.cpp turns it into a line and an exit status.

#include <CLI/CLI.hpp>

namespace tapestry {

void add_average(CLI::App& program);
void add_bench(CLI::App& program);
void add_compare(CLI::App& program);
void add_conformance(CLI::App& program);
void add_corpus(CLI::App& program);
void add_describe(CLI::App& program);
void add_evaluate(CLI::App& program);
void add_gradcheck(CLI::App& program);
void add_lab(CLI::App& program);
void add_train(CLI::App& program);
void add_translate(CLI::App& program);

}  // namespace tapestry
