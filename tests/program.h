#pragma once
// The program, run as a user runs it.

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "tests/temporary_directory.h"

namespace tapestry {

inline std::string file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What lies below a directory: names and bytes.
inline std::map<std::string, std::string> directory_bytes(const std::string& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory))
    files[entry.path().string()] = entry.is_regular_file() ? file_bytes(entry.path().string()) : "";
  return files;
}

inline std::size_t count_lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

struct Outcome {
  int status = -1;
  std::string out, error;
  /// Nothing is as wrong as a crash: a signal, or a message that is not one line.
  bool complained(int expected) const {
    return status == expected && error.starts_with("tapestry: ") && error.ends_with('\n') && count_lines(error) == 1;
  }
};

/// Runs `shell`, in which "$tapestry" is the program, with `input` as its standard input.
inline Outcome run_shell(const std::string& shell, const std::string& input = "") {
  const TemporaryDirectory place;
  const std::string in = place.write("in", input), out = place.file("out"), error = place.file("error");
  const std::string script = place.write("script", "tapestry='" TAPESTRY_PROGRAM "'\n" + shell + "\n");
  const int status = std::system(("sh " + script + " < " + in + " > " + out + " 2> " + error).c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, file_bytes(out), file_bytes(error)};
}

/// The shell's words for the program with these arguments.
inline std::string shell_command(const std::vector<std::string>& arguments) {
  std::string command = "\"$tapestry\"";
  for (const std::string& argument : arguments) {
    command += " '";
    for (char c : argument) command += c == '\'' ? std::string("'\\''") : std::string(1, c);
    command += '\'';
  }
  return command;
}

/// Runs the program with these arguments.
inline Outcome run_program(const std::vector<std::string>& arguments, const std::string& input = "") {
  return run_shell("exec " + shell_command(arguments), input);
}

/// Shell that starts the program, and goes on when it has written `file`; ends with status 99 if it ends before.
inline std::string start_until_written(const std::vector<std::string>& arguments, const std::string& file) {
  return shell_command(arguments) + " > /dev/null & pid=$!\nuntil [ -e '" + file +
         "' ]; do kill -0 $pid || exit 99; sleep 0.01; done\n";
}

/// Shell that kills the program so started.
inline constexpr const char* kill_started = "kill -9 $pid; wait $pid; true\n";

}  // namespace tapestry
