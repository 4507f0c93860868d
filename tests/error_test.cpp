#include "core/error.h"

#include <doctest/doctest.h>

using namespace tapestry;

TEST_SUITE("fast") {
  TEST_CASE("require throws the formatted line and nothing else") {
    require(true, "never: built; {}", 1);
    CHECK_THROWS_WITH_AS(require(false, "add: shapes must match; {} and {}", "[2]", "[3]"),
                         "add: shapes must match; [2] and [3]", Error);
  }
}
