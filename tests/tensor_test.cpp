#include "core/tensor.h"

#include <doctest/doctest.h>

#include "core/accumulate.h"
#include "core/ids.h"
#include "core/mask.h"

using namespace tapestry;

TEST_SUITE("fast") {
  TEST_CASE("shapes count, index from both ends, broadcast and print") {
    const Shape s{2, 3, 5};
    CHECK(s.numel() == 30);
    CHECK(s[-1] == 5);
    CHECK(s.without(1) == Shape{2, 5});
    CHECK(s.inserted(-1, 7) == Shape{2, 3, 5, 7});
    CHECK(s.with(0, 1).text() == "[1, 3, 5]");
    CHECK(Shape{}.numel() == 1);
    CHECK(broadcast("add", {2, 1, 5}, {3, 1}) == Shape{2, 3, 5});
    CHECK_THROWS_WITH_AS(broadcast("add", {2, 3}, {2}),
                         "add: shapes must broadcast (sizes equal or 1, from the last axis); [2, 3] and [2]", Error);
    CHECK_THROWS_WITH_AS(s[3], "shape: axis must lie in [-3, 3) of [2, 3, 5]; given 3", Error);
    CHECK_THROWS_WITH_AS((Shape{1, 1, 1, 1, 1, 1, 1}), "shape: at most 6 axes; given 7", Error);
  }

  TEST_CASE("reshape and rows share memory, clone does not") {
    const Tensor t = Tensor::from({1, 2, 3, 4, 5, 6}, {2, 3}, DType::f32);
    const Tensor r = t.reshape({3, -1});
    CHECK(r.shape() == Shape{3, 2});
    const Tensor second = t.rows(1, 2), copy = t.clone();
    CHECK(second.values() == std::vector<double>{4, 5, 6});
    r.set(5, 60);
    CHECK(second.at(2) == 60);
    CHECK(copy.at(5) == 6);
    CHECK_FALSE(t.unique());
    CHECK(copy.unique());
  }

  TEST_CASE("tensor errors name what was given") {
    const Tensor t = Tensor::zeros({2, 3}, DType::f32);
    CHECK_THROWS_WITH_AS(t.reshape({4, -1}), "reshape: 6 elements of [2, 3] must fill the new shape; given [4, 0]",
                         Error);
    CHECK_THROWS_WITH_AS(t.rows(1, 3), "rows: a range within the first axis of [2, 3] is needed; given [1, 3)", Error);
    CHECK_THROWS_WITH_AS(t.data<double>(), "tensor: data of type f64 asked for; it is of the other type", Error);
    CHECK_THROWS_WITH_AS(Tensor().data<float>(), "tensor: data of type f32 asked for; it has no value", Error);
    CHECK_THROWS_WITH_AS(t.item(), "item: the tensor must have one element; it has shape [2, 3]", Error);
    CHECK_THROWS_WITH_AS(Tensor::from({1, 2}, {3}, DType::f64), "tensor: [3] needs 3 values; given 2", Error);
    const Tensor absent, other = Tensor::zeros({4}, DType::f64);
    CHECK_THROWS_WITH_AS(require_same_dtype("mul", {t, absent, other}),
                         "mul: all inputs must have one dtype; f32 [2, 3] and f64 [4]", Error);
  }

  TEST_CASE("a temporary that is reshaped stays the only one to hold its memory") {
    CHECK(Tensor::zeros({2, 3}, DType::f32).reshape({6}).unique());
    const Tensor t = Tensor::zeros({2, 3}, DType::f32), flat = t.reshape({-1});
    CHECK(!flat.unique());
    CHECK(t.shape() == Shape{2, 3});
    CHECK_THROWS_WITH_AS(t.reshape({1, 1, 1, 1, 1, 2, 3}), "reshape: a shape has at most 6 axes; given 7", Error);
  }

  TEST_CASE("the sum to a broadcast shape") {
    // g[i, j, k] = 100 i + 10 j + k over [2, 3, 4]
    Tensor g = Tensor::empty({2, 3, 4}, DType::f64);
    for (Index i = 0; i < 24; ++i) g.set(i, static_cast<double>(100 * (i / 12) + 10 * (i / 4 % 3) + i % 4));
    CHECK(core::sum_to(g, {3, 1}).values() == std::vector<double>{412, 492, 572});
    CHECK(core::sum_to(g, {2, 1, 4}).values() == std::vector<double>{30, 33, 36, 39, 330, 333, 336, 339});
    CHECK(core::sum_to(g, {}).values() == std::vector<double>{1476});
    CHECK(core::sum_to(g, {4}).values() == std::vector<double>{360, 366, 372, 378});
    CHECK_THROWS_AS(core::sum_to(g, {2, 4}), Error);
  }

  TEST_CASE("masks are intervals of keys that compose") {
    const Mask lengths = Mask::lengths(Ids({3, 0}));
    CHECK(lengths.keys(0, 9, 5).end == 3);
    CHECK(lengths.keys(1, 0, 5).end == 0);
    const Mask both = lengths & Mask::causal();
    CHECK(both.keys(0, 1, 5).end == 2);
    CHECK(both.keys(0, 4, 5).end == 3);
    const Mask window = Mask::window(1) & Mask::causal();
    // Queries beyond the last key see nothing, within bounds.
    CHECK(Mask::window(1).keys(0, 10, 5).begin == 5);
    CHECK(Mask::window(1).keys(0, 10, 5).end == 5);
    CHECK(window.keys(0, 3, 5).begin == 2);
    CHECK(window.keys(0, 3, 5).end == 4);
    CHECK(Mask().keys(7, 7, 5).end == 5);
    const Mask per_query = Mask::lengths(Ids({1, 2, 3, 4, 5, 6}, {2, 3}));
    CHECK(per_query.keys(1, 2, 9).end == 6);
    CHECK_THROWS_WITH_AS(per_query.require_fits("attention", 2, 4),
                         "attention: the mask's lengths must be [2, 4]; given [2, 3]", Error);
    CHECK_THROWS_WITH_AS(Mask::lengths(Ids({-1})), "mask: lengths must not be negative; given -1", Error);
    CHECK_THROWS_WITH_AS(lengths & lengths, "mask: at most one of two composed masks may have lengths", Error);
  }

  TEST_CASE("a column of ids") {
    const Ids ids({1, 2, 3, 4, 5, 6}, {2, 3});
    const Ids column = ids.column(2);
    CHECK(column.shape() == Shape{2});
    CHECK(column[0] == 3);
    CHECK(column[1] == 6);
    CHECK_THROWS_WITH_AS(ids.column(3), "ids: column 3 of a matrix wanted; given [2, 3]", Error);
  }
}
