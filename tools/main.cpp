// The program: reads the command line, runs a subcommand, and tells in one line what went wrong.

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <system_error>

#include "core/denormals.h"
#include "core/error.h"
#include "tools/commands.h"

namespace tapestry {
namespace {

constexpr int failure = 1, usage = 2;

/// One line on standard error, whatever the message holds.
int complain(std::string message, int status) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  std::fprintf(stderr, "tapestry: %s\n", message.c_str());
  return status;
}

int complain_of_output(const std::string& reason) {
  return complain("standard output: must be writable; " + reason, failure);
}

/// What was printed may still wait in the buffer, and the disk behind it may be full.
int flush_output() {
  if (std::fflush(stdout) != 0) return complain_of_output(std::strerror(errno));
  if (std::ferror(stdout)) return complain_of_output("an earlier write failed");  // errno is another's by now
  return 0;
}

int run(int argc, char** argv) {
  CLI::App program("Trains models that translate, and shows what they learned.", "tapestry");
  program.set_version_flag("--version", "tapestry " TAPESTRY_VERSION, "Print the version and exit");
  program.set_help_flag("-h,--help", "Print this help and exit");
  program.require_subcommand(0, 1);  // none is told below: CLI11 would not name the word it does not know
  program.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  add_train(program);
  add_translate(program);
  add_evaluate(program);
  add_compare(program);
  add_average(program);
  add_corpus(program);
  add_describe(program);
  add_gradcheck(program);
  add_conformance(program);
  add_bench(program);
  add_lab(program);
  try {
    program.parse(argc, argv);
    if (program.get_subcommands().empty()) throw UsageError("a subcommand is required (see tapestry --help)");
    return flush_output();
  } catch (const CLI::Success& asked) {  // --help, --version
    program.exit(asked);
    return flush_output();
  } catch (const CLI::ParseError& error) {
    return complain(fmt::format("{} (see tapestry --help)", error.what()), usage);
  } catch (const UsageError& error) {
    return complain(error.what(), usage);
  } catch (const std::bad_alloc&) {
    return complain("memory: there is not enough of it for this", failure);
  } catch (const std::filesystem::filesystem_error& error) {
    return complain(fmt::format("{}: must be accessible; {}", error.path1().string(), error.code().message()), failure);
  } catch (const std::system_error& error) {  // of printing, and of little else
    return std::ferror(stdout) ? complain_of_output(error.code().message()) : complain(error.what(), failure);
  } catch (const std::exception& error) {
    std::fflush(stdout);
    return complain(error.what(), failure);
  }
}

}  // namespace
}  // namespace tapestry

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_DFL);  // `tapestry corpus | head` ends quietly, even where the parent ignores the signal
  tapestry::core::flush_denormals();
  return tapestry::run(argc, argv);
}
