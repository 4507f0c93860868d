#include "tools/variants.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.h"

using namespace tapestry;

TEST_SUITE("fast") {
  TEST_CASE("estimate: mean and half of Student's 95 % interval") {
    CHECK(estimate({3}).mean == 3);
    CHECK(estimate({3}).half == 0);
    // s = 1, so t / sqrt(3) with two degrees of freedom: 4.303 / 1.7321.
    const Estimate three = estimate({1, 2, 3});
    CHECK(three.mean == doctest::Approx(2));
    CHECK(three.half == doctest::Approx(2.4843).epsilon(1e-4));
    CHECK(estimate({5, 5}).half == 0);
    CHECK_THROWS_WITH_AS(estimate({}), "estimate: 1 to 30 values are needed; given 0", Error);
  }

  TEST_CASE("variants: names differ, bases come first, and all but a base differ from it") {
    std::set<std::string> names, bases;
    for (const Variant& variant : variants()) {
      CHECK(names.insert(variant.name).second);
      if (bases.insert(variant.base).second) CHECK(variant.name == variant.base);
      RunConfig base, changed;
      base.model = changed.model = variant.base;
      base.updates = changed.updates = 400;
      variant.change(changed);
      CAPTURE(variant.name);
      CHECK((to_json(changed) == to_json(base)) == (variant.name == variant.base));
    }
    CHECK(bases == std::set<std::string>{"bahdanau", "transformer"});
  }

  TEST_CASE("variants: the same seed gives the same figures, whatever the threads; another seed others") {
    VariantsOptions options;
    options.updates = 3;
    options.pairs = 100;
    const auto& list = variants();
    const Variant& lstm =
        *std::find_if(list.begin(), list.end(), [](const Variant& variant) { return variant.name == "lstm"; });
    core::Workers one(1), two(2);
    const VariantOutcome first = run_variant(lstm, options, 1, one), again = run_variant(lstm, options, 1, two),
                         other = run_variant(lstm, options, 2, one), gru = run_variant(list[0], options, 1, one);
    CHECK(first.loss == again.loss);
    CHECK(first.bleu == again.bleu);
    CHECK(first.loss != other.loss);
    CHECK(first.parameters > gru.parameters);
  }
}
