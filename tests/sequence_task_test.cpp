#include "models/sequence_task.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "core/error.h"

using namespace tapestry;

namespace {

using Words = std::vector<std::string>;

SequenceTask small(const std::string& name, std::uint64_t seed = 1) {
  return {name, 200, 1, 6, seed};
}

// Whether each target word is the source word that its one link names.
bool links_show_the_target(const AlignedPair& pair) {
  if (pair.alignment.size() != pair.target.size() || pair.source.size() != pair.target.size()) return false;
  std::vector<int> seen(pair.target.size());
  for (const auto& [source, target] : pair.alignment) {
    ++seen.at(static_cast<std::size_t>(target));
    if (pair.source.at(static_cast<std::size_t>(source)) != pair.target[static_cast<std::size_t>(target)]) return false;
  }
  return std::is_sorted(pair.alignment.begin(), pair.alignment.end()) &&
         std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; });
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("the tasks: the same source copied, reversed and sorted, with its links") {
    const auto copy = sequence_task(small("copy")), reverse = sequence_task(small("reverse")),
               sort = sequence_task(small("sort"));
    for (std::size_t i = 0; i < 200; ++i) {
      const Words source = copy[i].source;
      CHECK(reverse[i].source == source);
      CHECK(sort[i].source == source);
      CHECK(copy[i].target == source);
      CHECK(reverse[i].target == Words(source.rbegin(), source.rend()));
      Words sorted = source;
      std::sort(sorted.begin(), sorted.end(),
                [](const std::string& a, const std::string& b) { return std::stoi(a) < std::stoi(b); });
      CHECK(sort[i].target == sorted);
      for (const AlignedPair& pair : {copy[i], reverse[i], sort[i]}) CHECK(links_show_the_target(pair));
      const int n = static_cast<int>(source.size());
      for (const auto& [from, to] : copy[i].alignment) CHECK(from == to);
      for (const auto& [from, to] : reverse[i].alignment) CHECK(from == n - 1 - to);
    }
  }

  TEST_CASE("equal numbers stay in their order when sorted") {
    std::size_t ties = 0;
    for (const AlignedPair& pair : sequence_task({"sort", 50, 30, 40, 1})) {
      std::map<int, int> source_of;  // target place: source place
      for (const auto& [source, target] : pair.alignment) source_of[target] = source;
      for (std::size_t t = 1; t < pair.target.size(); ++t) {
        if (pair.target[t] != pair.target[t - 1]) continue;
        CHECK(source_of[static_cast<int>(t) - 1] < source_of[static_cast<int>(t)]);
        ++ties;
      }
    }
    CHECK(ties > 100);
  }

  TEST_CASE("a seed gives the same sequences, of all lengths and numbers; more pairs begin with the fewer") {
    const auto pairs = sequence_task({"copy", 20000, 1, 25, 1});
    std::map<std::size_t, int> lengths;
    std::map<std::string, int> numbers;
    for (const AlignedPair& pair : pairs) {
      ++lengths[pair.source.size()];
      for (const std::string& word : pair.source) ++numbers[word];
    }
    REQUIRE(lengths.size() == 25);
    CHECK(lengths.begin()->first == 1);
    for (const auto& entry : lengths) CHECK(std::abs(entry.second - 800) < 120);  // over 4 standard deviations of 28
    REQUIRE(numbers.size() == 50);
    for (int n = 0; n < 50; ++n) CHECK(std::abs(numbers[std::to_string(n)] - 5200) < 400);  // of 260,000 words; 5 of 71

    const auto fewer = sequence_task({"copy", 30, 1, 25, 1}), other = sequence_task({"copy", 30, 1, 25, 2});
    std::size_t same = 0;
    for (std::size_t i = 0; i < fewer.size(); ++i) {
      CHECK(fewer[i].source == pairs[i].source);
      same += fewer[i].source == other[i].source;
    }
    CHECK(same <= 1);
  }

  TEST_CASE("a task that cannot be meant is a usage error") {
    CHECK_THROWS_WITH_AS(sequence_task({"shuffle"}), "--task: must be one of copy, reverse, sort; given shuffle",
                         UsageError);
    CHECK_THROWS_WITH_AS(sequence_task({"copy", 0}), "--pairs: must lie in [1, 10000000]; given 0", UsageError);
    CHECK_THROWS_WITH_AS(sequence_task({"copy", 1, 0, 5}),
                         "--length: must be LOW-HIGH with 1 <= LOW <= HIGH <= 1000; given 0-5", UsageError);
    CHECK_THROWS_AS(sequence_task({"copy", 1, 6, 5}), UsageError);
    CHECK_THROWS_AS(sequence_task({"copy", 1, 6, 1001}), UsageError);
  }
}
