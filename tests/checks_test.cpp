#include <doctest/doctest.h>

#include "models/model_checks.h"
#include "nn/layer_checks.h"

using namespace tapestry;

TEST_SUITE("fast") {
  TEST_CASE("every layer's backward is the derivative of its forward") {
    for (const NamedCheck& check : layer_checks()) {
      const GradcheckReport report = check.run();
      CHECK_MESSAGE(report.passed, report.message);
      CHECK(report.checked >= 10);
    }
  }

  TEST_CASE("every model's backward is the derivative of its forward") {
    for (const NamedCheck& check : model_checks()) {
      const GradcheckReport report = check.run();
      CHECK_MESSAGE(report.passed, report.message);
      CHECK(report.checked >= 100);
    }
  }
}
