#include "models/text_file.h"

#include <doctest/doctest.h>

#include "core/error.h"
#include "tests/temporary_directory.h"

using namespace tapestry;

TEST_SUITE("fast") {
  TEST_CASE("lines come without their ends and without a byte order mark") {
    const TemporaryDirectory directory;
    using Lines = std::vector<std::string>;
    CHECK(read_lines(directory.write("a", "one\ntwo\n")) == Lines{"one", "two"});
    CHECK(read_lines(directory.write("a", "one\ntwo")) == Lines{"one", "two"});
    CHECK(read_lines(directory.write("a", "\xEF\xBB\xBFone\r\n\r\n\xEF\xBB\xBFtwo\r\n")) ==
          Lines{"one", "", "\uFEFFtwo"});
    CHECK(read_lines(directory.write("a", "\n")) == Lines{""});
    const std::string large(200'000, 'x');
    CHECK(read_lines(directory.write("a", large + "\n" + large)) == Lines{large, large});
  }

  TEST_CASE("a file that cannot be read as text is named") {
    const TemporaryDirectory directory;
    const std::string missing = directory.file("missing");
    CHECK_THROWS_WITH_AS(read_lines(missing), (missing + ": must be readable; No such file or directory").c_str(),
                         Error);
    CHECK_THROWS_WITH_AS(read_lines(directory.path()),
                         (directory.path() + ": must be readable; Is a directory").c_str(), Error);
    for (const char* nothing : {"", "\xEF\xBB\xBF"}) {
      const std::string empty = directory.write("empty", nothing);
      CHECK_THROWS_WITH_AS(read_lines(empty), (empty + ": file must hold text; it is empty").c_str(), Error);
    }
    const std::string latin1 = directory.write("latin1", "one\ncaf\xE9\n");
    CHECK_THROWS_WITH_AS(read_lines(latin1), (latin1 + ":2: text must be UTF-8; byte 4 of the line is 0xe9").c_str(),
                         Error);
  }
}
