#include "tools/apart.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "core/error.h"

namespace tapestry {
namespace {

// The child's answer: numbers, or a message after the number of its failure.
constexpr int answered = 0, failed = 1;

void write_all(int file, const void* bytes, std::size_t count) {
  const char* at = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t written = write(file, at, count);
    if (written < 0) _exit(failed);
    at += written;
    count -= static_cast<std::size_t>(written);
  }
}

[[noreturn]] void run_child(int file, const std::function<std::vector<double>()>& work) {
  int status = answered;
  try {
    const std::vector<double> result = work();
    write_all(file, result.data(), result.size() * sizeof(double));
  } catch (const std::exception& error) {
    write_all(file, error.what(), std::strlen(error.what()));
    status = failed;
  }
  _exit(status);  // without the parent's destructors and unwritten output
}

}  // namespace

std::vector<double> apart(const std::function<std::vector<double>()>& work) {
  int ends[2];
  require(pipe(ends) == 0, "measuring: a pipe is needed; {}", std::strerror(errno));
  const pid_t child = fork();
  require(child >= 0, "measuring: a process of its own is needed; {}", std::strerror(errno));
  if (child == 0) {
    close(ends[0]);
    run_child(ends[1], work);
  }
  close(ends[1]);
  std::string answer;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    answer.append(buffer, static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  require(WIFEXITED(status) && (WEXITSTATUS(status) == answered || !answer.empty()),
          "measuring: the measured process must finish; it ended with status {}", status);
  require(WEXITSTATUS(status) == answered, "{}", answer);
  std::vector<double> result(answer.size() / sizeof(double));
  std::memcpy(result.data(), answer.data(), result.size() * sizeof(double));
  return result;
}

}  // namespace tapestry
