#include "autograd/shape_ops.h"

#include <doctest/doctest.h>

#include "autograd/indexing.h"
#include "autograd/tape.h"

using namespace tapestry;

namespace {

using Values = std::vector<double>;

Var counting(const Shape& shape) {
  const Tensor x = Tensor::empty(shape, DType::f64);
  for (Index i = 0; i < x.numel(); ++i) x.set(i, static_cast<double>(i));
  return watch(x);
}

Values values(const Var& x) {
  return x.value().values();
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("reshape shares memory, the others copy") {
    const Var x = counting({2, 3});
    CHECK(reshape(x, {3, -1}).value().data<double>() == x.value().data<double>());
    CHECK(slice(x, 0, 0, 2).value().data<double>() != x.value().data<double>());
    CHECK_THROWS_WITH_AS(reshape(x, {4, -1}), "reshape: 6 elements of [2, 3] must fill the new shape; given [4, 0]",
                         Error);
  }

  TEST_CASE("permute and transpose move every element") {
    const Var x = counting({2, 3, 4});
    const Tensor y = permute(x, {2, 0, 1}).value();
    REQUIRE(y.shape() == Shape{4, 2, 3});
    for (Index i = 0; i < 2; ++i)
      for (Index j = 0; j < 3; ++j)
        for (Index k = 0; k < 4; ++k) CHECK(y.at(k * 6 + i * 3 + j) == static_cast<double>(i * 12 + j * 4 + k));
    CHECK(values(transpose(counting({2, 3}), 0, -1)) == Values{0, 3, 1, 4, 2, 5});
    CHECK_THROWS_WITH_AS(permute(x, {0, 1}), "permute: each axis of [2, 3, 4] once is needed; given 2 axes", Error);
    CHECK_THROWS_WITH_AS(permute(x, {0, 1, -2}), "permute: each axis of [2, 3, 4] once is needed; -2 is given twice",
                         Error);
  }

  TEST_CASE("slices, with bounds from either end and a step") {
    const Var x = counting({2, 5});
    CHECK(values(slice(x, 1, 1, -1)) == Values{1, 2, 3, 6, 7, 8});
    CHECK(values(slice(x, 1, 0, 5, 2)) == Values{0, 2, 4, 5, 7, 9});
    CHECK(values(slice(x, -1, -2, 5, 3)) == Values{3, 8});
    CHECK(values(slice(x, 0, 1, 2)) == Values{5, 6, 7, 8, 9});
    CHECK(slice(x, 1, 2, 2).shape() == Shape{2, 0});
    CHECK(values(select(x, 1, -1)) == Values{4, 9});
    CHECK(select(x, 0, 1).shape() == Shape{5});
    CHECK_THROWS_WITH_AS(slice(x, 1, 3, 6), "slice: a range within axis 1 of [2, 5] is needed; given [3, 6)", Error);
    CHECK_THROWS_WITH_AS(slice(x, 1, 0, 5, 0), "slice: the step must be at least 1; given 0", Error);
    CHECK_THROWS_WITH_AS(select(x, 0, 2), "select: the index must lie within axis 0 of [2, 5]; given 2", Error);
  }

  TEST_CASE("concat, stack and split") {
    const Var a = counting({2, 2}), b = counting({2, 1});
    CHECK(values(concat({a, b, a}, -1)) == Values{0, 1, 0, 0, 1, 2, 3, 1, 2, 3});
    CHECK(values(concat({b, b}, 0)) == Values{0, 1, 0, 1});
    CHECK(stack({a, a, a}, 1).shape() == Shape{2, 3, 2});
    CHECK(values(stack({a, a}, -1)) == Values{0, 0, 1, 1, 2, 2, 3, 3});
    const auto parts = split(counting({2, 4}), {1, 3}, 1);
    CHECK(values(parts[0]) == Values{0, 4});
    CHECK(values(parts[1]) == Values{1, 2, 3, 5, 6, 7});
    CHECK_THROWS_WITH_AS(concat({}, 0), "concat: at least one tensor is needed; given none", Error);
    CHECK_THROWS_WITH_AS(concat({a, counting({3, 2})}, 1),
                         "concat: shapes must agree but for axis 1; [2, 2] and [3, 2]", Error);
    CHECK_THROWS_WITH_AS(stack({a, b}, 0), "stack: shapes must be equal; [2, 2] and [2, 1]", Error);
    CHECK_THROWS_WITH_AS(split(a, {1, 2}, 0), "split: the sizes must add up to axis 0 of [2, 2]; they make 3", Error);
  }

  TEST_CASE("flip, roll, repeat, pad and triangles") {
    const Var x = counting({2, 3});
    CHECK(values(flip(x, {0, 1})) == Values{5, 4, 3, 2, 1, 0});
    CHECK(values(flip(x, {-1})) == Values{2, 1, 0, 5, 4, 3});
    CHECK(values(roll(x, 1, 1)) == Values{2, 0, 1, 5, 3, 4});
    CHECK(values(roll(x, -1, 0)) == Values{3, 4, 5, 0, 1, 2});
    CHECK(values(roll(x, 6, 1)) == values(x));
    CHECK(values(repeat(counting({1, 2}), {2, 2})) == Values{0, 1, 0, 1, 0, 1, 0, 1});
    CHECK(values(pad(x, 1, 1, 0, -1)) == Values{-1, 0, 1, 2, -1, 3, 4, 5});
    CHECK(values(pad(x, 0, 0, 1)) == Values{0, 1, 2, 3, 4, 5, 0, 0, 0});
    CHECK(values(tril(x)) == Values{0, 0, 0, 3, 4, 0});
    CHECK(values(triu(x, 1)) == Values{0, 1, 2, 0, 0, 5});
    CHECK(values(expand(counting({2, 1}), {3, 2, 2})) == Values{0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1});
    CHECK_THROWS_WITH_AS(expand(x, {2}), doctest::Contains("expand: "), Error);
    CHECK_THROWS_WITH_AS(tril(counting({3})), "tril: matrices are needed; given [3]", Error);
    CHECK_THROWS_WITH_AS(flip(x, {1, -1}), "flip: axis -1 is given twice", Error);
  }

  TEST_CASE("rows read twice get both gradients") {
    const Var table = counting({4, 2});
    Tape tape;
    const Var y = embedding(table, Ids({3, 0, 3}, {3, 1}));
    REQUIRE(y.shape() == Shape{3, 1, 2});
    CHECK(values(y) == Values{6, 7, 0, 1, 6, 7});
    const Tensor dy = Tensor::from({1, 2, 3, 4, 5, 6}, {3, 1, 2}, DType::f64);
    CHECK(tape.backward(std::span(&y, 1), std::span(&dy, 1))[table].values() == Values{3, 4, 0, 0, 0, 0, 6, 8});
  }

  TEST_CASE("picking along any axis") {
    const Var x = counting({2, 3, 2});
    CHECK(values(index_select(x, 1, Ids({2, 0}))) == Values{4, 5, 0, 1, 10, 11, 6, 7});
    const Var m = counting({2, 3});
    CHECK(values(gather(m, 1, Ids({2, 2, 0, 1}, {2, 2}))) == Values{2, 2, 3, 4});
    CHECK(values(gather(m, 0, Ids({1, 0}, {1, 2}))) == Values{3, 1});
    CHECK(values(scatter_add(m, 1, Ids({2, 2, 0, 1}, {2, 2}), counting({2, 2}))) == Values{0, 1, 3, 5, 7, 5});
  }

  TEST_CASE("an id out of range is named, with its place and the size") {
    const Var table = counting({4, 2});
    CHECK_THROWS_WITH_AS(embedding(table, Ids({1, 4})),
                         "embedding: ids must lie in [0, 4); id 4 at position 1 does not", Error);
    CHECK_THROWS_WITH_AS(index_select(table, 1, Ids({-1})),
                         "index_select: ids must lie in [0, 2); id -1 at position 0 does not", Error);
    CHECK_THROWS_WITH_AS(gather(table, 0, Ids({9, 0}, {1, 2})),
                         "gather: ids must lie in [0, 4); id 9 at position 0 does not", Error);
    CHECK_THROWS_WITH_AS(gather(table, 0, Ids({1})), "gather: ids must have the rank of [4, 2]; given [1]", Error);
    CHECK_THROWS_WITH_AS(gather(table, 0, Ids({1, 1, 1}, {1, 3})),
                         "gather: ids must fit in [4, 2] but for axis 0; given [1, 3]", Error);
    CHECK_THROWS_WITH_AS(embedding(counting({4}), Ids({1})), "embedding: the table must be [V,E]; given [4]", Error);
  }
}
