// The check of the checker: every gradient of every op, made wrong by a thousandth in one element, must be caught.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "autograd/observer.h"
#include "autograd/op_checks.h"

using namespace tapestry;

namespace {

// Scales the largest element of what one entry of a tape gives to one of its inputs.
struct PlantedFault : Observer {
  PlantedFault(Index entry_, std::size_t input_) : entry(entry_), input(input_) {}
  void walked(Index number, const char* op, std::span<const Tensor> contributions) override {
    for (std::size_t i = 0; i < contributions.size(); ++i)
      if (contributions[i]) places.push_back({number, i, fmt::format("{} {}", op, i)});
    if (number != entry || !contributions[input]) return;
    const Tensor& gradient = contributions[input];
    Index largest = 0;
    for (Index i = 1; i < gradient.numel(); ++i)
      if (std::abs(gradient.at(i)) > std::abs(gradient.at(largest))) largest = i;
    zero = gradient.numel() == 0 || gradient.at(largest) == 0;
    if (!zero) gradient.set(largest, 1.001 * gradient.at(largest));
  }

  struct Place {
    Index entry;
    std::size_t input;
    std::string name;
  };
  Index entry;
  std::size_t input;
  bool zero = false;
  std::vector<Place> places;  // all that were walked
};

GradcheckReport check_with(const GradcheckCase& check, PlantedFault& fault) {
  const ObserverScope scope(fault);
  return gradcheck(check);
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("every planted fault is caught") {
    Index caught = 0, exempt = 0;
    for (const GradcheckCase& check : op_checks()) {
      PlantedFault none(-1, 0);
      REQUIRE(check_with(check, none).passed);
      for (const auto& place : none.places) {
        PlantedFault fault(place.entry, place.input);
        const GradcheckReport report = check_with(check, fault);
        if (fault.zero) {  // nothing to scale: the case must say that this gradient is zero by definition
          const auto& zero = check.zero_gradients;
          CHECK_MESSAGE(std::find(zero.begin(), zero.end(), place.input) != zero.end(),
                        check.name << ": the gradient of " << place.name << " is zero");
          ++exempt;
          continue;
        }
        CHECK_MESSAGE(!report.passed, check.name << ": a fault in " << place.name << " passed unseen");
        ++caught;
      }
    }
    CHECK(caught >= 300);
    CHECK(exempt == 1);  // the values of attention, where only its weights are looked at
  }
}
