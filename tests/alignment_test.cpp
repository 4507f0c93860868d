#include "models/alignment.h"

#include <doctest/doctest.h>

#include "core/error.h"
#include "tests/temporary_directory.h"

using namespace tapestry;

TEST_SUITE("fast") {
  TEST_CASE("the diagonal looks at the same relative place") {
    // centres of the target tokens at 2/3, 2, 10/3 of 4 source tokens
    CHECK(diagonal_alignment(4, 3) == Alignment{{0, 0}, {2, 1}, {3, 2}});
    CHECK(diagonal_alignment(2, 5) == Alignment{{0, 0}, {0, 1}, {1, 2}, {1, 3}, {1, 4}});
    CHECK(diagonal_alignment(0, 3).empty());
    CHECK(diagonal_alignment(3, 0).empty());
  }

  TEST_CASE("the alignment error rate counts the links of all sentences together") {
    const std::vector<Alignment> gold = {{{0, 0}, {1, 2}, {2, 1}}, {{0, 0}}};
    CHECK(alignment_error_rate(gold, gold) == 0.0);
    CHECK(alignment_error_rate({{}, {}}, gold) == 1.0);
    // 2 common links of 3 + 4: 1 - 4/7; a repeated link counts once, order does not matter
    const std::vector<Alignment> proposed = {{{2, 1}, {1, 1}, {2, 1}, {0, 0}}, {}};
    CHECK(alignment_error_rate(proposed, gold) == doctest::Approx(3.0 / 7.0));
    // a link of one sentence is no link of the other
    CHECK(alignment_error_rate({{{5, 5}}, {}}, {{}, {{5, 5}}}) == 1.0);
    CHECK(alignment_error_rate({}, {}) == 0.0);
  }

  TEST_CASE("gold links are read as Pharaoh's format has them") {
    const TemporaryDirectory directory;
    const std::string path = directory.write("gold", "0-0 2-1  1-2\r\n\n3-0 1-10 3-0");
    CHECK(read_alignments(path) == std::vector<Alignment>{{{0, 0}, {1, 2}, {2, 1}}, {}, {{1, 10}, {3, 0}}});
    for (const char* bad : {"0", "0-", "-1-0", "0--1", "a-0", "0-0x", "0-0-0", "0:0", "99999999999-0"})
      CHECK_THROWS_WITH_AS(
          read_alignments(directory.write("bad", "0-0\n1-1 " + std::string(bad) + "\n")),
          fmt::format("{}:2: links must be of the form 0-0, source and target place; {}", directory.file("bad"), bad)
              .c_str(),
          Error);
  }

  TEST_CASE("the alignment error rate wants as many sentences on both sides") {
    CHECK_THROWS_WITH_AS(alignment_error_rate({{}, {}}, {{}}),
                         "alignment_error_rate: both must hold the same number of sentences; 2 proposed, 1 gold",
                         Error);
  }
}
