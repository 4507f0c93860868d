#include "autograd/fused_checks.h"

#include <doctest/doctest.h>

using namespace tapestry;

TEST_SUITE("fast") {
  TEST_CASE("gradcheck of the fused ops") {
    for (const GradcheckCase& check : fused_checks()) {
      const GradcheckReport report = gradcheck(check);
      CHECK_MESSAGE(report.passed, report.message);
      CHECK(report.checked > 0);
    }
  }
}
