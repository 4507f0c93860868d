#include "core/files.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <thread>

#include "core/error.h"
#include "tests/temporary_directory.h"

using namespace tapestry;

namespace {

/// Lets this process write no file beyond `bytes` while it lives: what a full disk does, without filling one.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit old_{};
};

/// The message of the Error that f throws; empty if it throws none.
template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::size_t files_in(const TemporaryDirectory& directory) {
  const std::filesystem::directory_iterator files(directory.path());
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("a file holds the bytes that were written, and then those of the second writing alone") {
    const TemporaryDirectory directory;
    const std::string path = directory.file("a");
    const std::string binary("x\0\n\xff", 4), large(100'000, 'l');
    write_atomically(path, binary);
    CHECK(read_file(path) == binary);
    const std::array<std::string_view, 3> pieces = {large, "", "end"};
    write_atomically(path, pieces);
    CHECK(read_file(path) == large + "end");
    write_atomically(path, "");
    CHECK(read_file(path).empty());
    CHECK(files_in(directory) == 1);
  }

  TEST_CASE("what has no size of its own is read to its end") {
    std::array<int, 2> ends{};
    REQUIRE(pipe(ends.data()) == 0);
    REQUIRE(write(ends[1], "through a pipe", 14) == 14);
    close(ends[1]);
    CHECK(read_file("/dev/fd/" + std::to_string(ends[0])) == "through a pipe");
    close(ends[0]);
  }

  TEST_CASE("reading says in one line what is wrong") {
    const TemporaryDirectory directory;
    const std::string missing = directory.file("missing");
    CHECK(error_of([&] { read_file(missing); }) == missing + ": must be readable; No such file or directory");
    CHECK(error_of([&] { read_file(directory.path()); }) == directory.path() + ": must be readable; Is a directory");
    const std::string locked = directory.write("locked", "secret");
    std::filesystem::permissions(locked, std::filesystem::perms::none);
    if (geteuid() != 0) {  // root may read everything
      CHECK(error_of([&] { read_file(locked); }) == locked + ": must be readable; Permission denied");
    }
  }

  TEST_CASE("writing says in one line what is wrong") {
    const TemporaryDirectory directory;
    const std::string nowhere = directory.file("no/such/file");
    CHECK(error_of([&] { write_atomically(nowhere, "x"); }) ==
          nowhere + ": must be writable; No such file or directory");
    CHECK(error_of([&] { write_atomically(directory.path(), "x"); }) ==
          directory.path() + ": must be writable; Is a directory");
    CHECK(error_of([&] { write_atomically("/dev/full", "x"); }) ==
          "/dev/full: must be writable; No space left on device");
    CHECK(std::filesystem::is_character_file("/dev/full"));
  }

  TEST_CASE("writing that fails half-way leaves the old file and nothing beside it") {
    const TemporaryDirectory directory;
    const std::string path = directory.write("model", "the last good state");
    std::string message;
    {
      const FileSizeLimit limit(100);
      message = error_of([&] { write_atomically(path, std::string(1000, 'x')); });
    }
    CHECK(message == path + ": must be writable; File too large");
    CHECK(read_file(path) == "the last good state");
    CHECK(files_in(directory) == 1);
  }

  TEST_CASE("a link is written through, not replaced") {
    const TemporaryDirectory directory;
    const std::string target = directory.write("target", "old");
    std::filesystem::create_symlink(target, directory.file("link"));
    write_atomically(directory.file("link"), "new");
    CHECK(std::filesystem::is_symlink(directory.file("link")));
    CHECK(read_file(target) == "new");
  }

  TEST_CASE("two directories exchange their names, and at no time is a name without one") {
    const TemporaryDirectory directory;
    const std::string a = directory.file("a"), b = directory.file("b"), aside = directory.file("aside");
    make_directory(a);
    make_directory(b);
    directory.write("a/of", "a");
    directory.write("b/of", "b");
    std::atomic<bool> done = false, missed = false;
    std::thread watch([&] {
      while (!done)
        if (!std::filesystem::exists(b)) missed = true;
    });
    for (int i = 0; i < 2001; ++i) exchange(a, b, aside);
    done = true;
    watch.join();
    CHECK_FALSE(missed);
    CHECK(read_file(a + "/of") == "b");
    CHECK(read_file(b + "/of") == "a");
    CHECK(files_in(directory) == 2);
    const std::string none = directory.file("none");
    CHECK(error_of([&] { exchange(none, b, aside); }) ==
          none + ": is complete, but cannot take the place of " + b + "; No such file or directory");
    CHECK(read_file(b + "/of") == "a");
  }
}
