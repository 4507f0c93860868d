#include "models/sequence_task.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "core/random.h"

namespace tapestry {
namespace {

constexpr Index numbers = 50, most_pairs = 10'000'000;

// For each place of the target the place of the source that it shows.
std::vector<int> places(const std::string& task, const std::vector<Index>& source) {
  std::vector<int> order(source.size());
  std::iota(order.begin(), order.end(), 0);
  if (task == "reverse") std::reverse(order.begin(), order.end());
  if (task == "sort")
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return source[static_cast<std::size_t>(a)] < source[static_cast<std::size_t>(b)];
    });
  return order;
}

void check(const SequenceTask& task) {
  require_one_of("--task", task.name, sequence_task_names());
  require_within("--pairs", task.pairs, 1, most_pairs);
  require_lengths("--length", task.shortest, task.longest);
}

}  // namespace

void require_lengths(const std::string& option, Index shortest, Index longest) {
  constexpr Index most = 1000;
  if (shortest < 1 || longest < shortest || longest > most)
    throw UsageError(
        fmt::format("{}: must be LOW-HIGH with 1 <= LOW <= HIGH <= {}; given {}-{}", option, most, shortest, longest));
}

const std::vector<std::string>& sequence_task_names() {
  static const std::vector<std::string> names{"copy", "reverse", "sort"};
  return names;
}

std::vector<AlignedPair> sequence_task(const SequenceTask& task) {
  check(task);
  core::Random random(task.seed);
  std::vector<AlignedPair> pairs(static_cast<std::size_t>(task.pairs));
  for (AlignedPair& pair : pairs) {
    std::vector<Index> sequence(
        static_cast<std::size_t>(task.shortest + random.below(task.longest - task.shortest + 1)));
    for (Index& number : sequence) number = random.below(numbers);
    for (Index number : sequence) pair.source.push_back(std::to_string(number));
    for (int place : places(task.name, sequence)) {
      pair.alignment.emplace_back(place, static_cast<int>(pair.target.size()));
      pair.target.push_back(pair.source[static_cast<std::size_t>(place)]);
    }
    std::sort(pair.alignment.begin(), pair.alignment.end());
  }
  return pairs;
}

}  // namespace tapestry
