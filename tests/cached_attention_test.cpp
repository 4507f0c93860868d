#include "core/cached_attention.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace tapestry;
using core::KeyValueCache;

namespace {

// Number of an entry: that of position, row and column together.
double entry(Index position, Index row, Index column) {
  return static_cast<double>(1000 * position + 10 * row + column);
}

void append(KeyValueCache& cache, Index rows, double shift = 0) {
  const Index position = cache.length();
  const Tensor place = cache.append(rows, 2, DType::f64);
  REQUIRE(place.shape() == Shape{rows, 4});
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < 4; ++c) place.set(r * 4 + c, entry(position, r, c) + shift);
}

void check_entries(const KeyValueCache& cache, Index position, Index rows, double shift = 0) {
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < 4; ++c) CHECK(cache.at<double>(position, r)[c] == entry(position, r, c) + shift);
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("a cache keeps every position while it grows, in length and in rows") {
    KeyValueCache cache;
    CHECK(cache.length() == 0);
    for (Index j = 0; j < 40; ++j) append(cache, 3);  // past 16 and 32
    for (Index j = 40; j < 45; ++j) append(cache, 5);
    for (Index j = 45; j < 50; ++j) append(cache, 2);
    CHECK(cache.length() == 50);
    for (Index j = 0; j < 50; ++j) check_entries(cache, j, j < 40 ? 3 : j < 45 ? 5 : 2);
  }

  TEST_CASE("copies of a cache go their own ways") {
    KeyValueCache first;
    for (Index j = 0; j < 3; ++j) append(first, 2);
    KeyValueCache second = first;
    append(second, 2, 0.5);
    append(first, 2, 0.25);
    append(second, 2, 0.5);
    CHECK(first.length() == 4);
    CHECK(second.length() == 5);
    for (Index j = 0; j < 3; ++j) {
      check_entries(first, j, 2);
      check_entries(second, j, 2);
    }
    check_entries(first, 3, 2, 0.25);
    check_entries(second, 3, 2, 0.5);
    check_entries(second, 4, 2, 0.5);
  }

  TEST_CASE("a row attends to what its ancestors left") {
    KeyValueCache cache;
    for (Index j = 0; j < 2; ++j) {
      const Tensor place = cache.append(2, 1, DType::f64);  // a key and a value
      for (Index r = 0; r < 2; ++r) {
        place.set(2 * r, r == 0 ? 1 : -1);
        place.set(2 * r + 1, entry(j, r, 0));
      }
    }
    // Row 0 was row 1 at first, and row 1 was row 0.
    const core::Lineage lineage{{1, 0}, {0, 1}};
    const Tensor x = Tensor::from({9, 0.5, 9, 2}, {2, 2}, DType::f64);  // queries in column 1
    const auto result = core::cached_attention(x, 1, 1, 1, cache, lineage, true);
    const auto weight = [](double score, double other) { return 1 / (1 + std::exp(other - score)); };
    CHECK(result.weights.shape() == Shape{2, 1, 2});
    CHECK(result.weights.at(0) == doctest::Approx(weight(-0.5, 0.5)).epsilon(1e-14));
    CHECK(result.weights.at(2) == doctest::Approx(weight(2, -2)).epsilon(1e-14));
    CHECK(result.context.at(0) ==
          doctest::Approx(weight(-0.5, 0.5) * entry(0, 1, 0) + weight(0.5, -0.5) * entry(1, 0, 0)).epsilon(1e-14));
    CHECK(result.context.at(1) ==
          doctest::Approx(weight(2, -2) * entry(0, 0, 0) + weight(-2, 2) * entry(1, 1, 0)).epsilon(1e-14));
    CHECK(!core::cached_attention(x, 1, 1, 1, cache, lineage, false).weights);
  }
}
