#include "nn/attention_pooling.h"

#include <doctest/doctest.h>

#include <cmath>

#include "autograd/ops.h"
#include "nn/multi_head_attention.h"
#include "tests/twins.h"

using namespace tapestry;

namespace {

Tensor t(std::initializer_list<double> values, const Shape& shape) {
  return Tensor::from(values, shape, DType::f64);
}

bool any_widths(const std::string& score) {
  return score == "additive" || score == "general" || score == "network";
}

// Calls f(score, normaliser) with all that go together.
template <class F>
void each_pooling(F f) {
  for (const std::string& score : score_names())
    for (const std::string& normaliser : normaliser_names())
      if (score != "gaussian" || normaliser != "relu") f(score, normaliser);
}

AttentionOutput pooled(const AttentionPooling& pooling, const Var& q, const Var& k, const Var& v, const Mask& mask) {
  return pooling(q, pooling.project(k), v, mask, Pass());
}

// The score of q = (1, 2) and k = (3, -1), with each parameter of these values, in row-major order.
double score_of(const PoolingOptions& options, const std::vector<std::vector<double>>& parameters) {
  ParameterStore store(DType::f64);
  const AttentionPooling pooling(Scope(store), 2, 2, options);
  REQUIRE(store.parameters().size() == parameters.size());
  for (std::size_t p = 0; p < parameters.size(); ++p)
    for (std::size_t i = 0; i < parameters[p].size(); ++i)
      store.parameters()[p].value().set(static_cast<Index>(i), parameters[p][i]);
  return pooling.scores(t({1, 2}, {1, 1, 2}), pooling.project(t({3, -1}, {1, 1, 2}))).value().item();
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("attention pooling: each score by hand") {
    const auto is = [](double value) { return doctest::Approx(value).epsilon(1e-14); };
    CHECK(score_of({"dot"}, {}) == is(1));
    CHECK(score_of({"scaled-dot"}, {}) == is(1 / std::sqrt(2.0)));
    CHECK(score_of({"cosine"}, {}) == is(1 / std::sqrt(50.0)));
    CHECK(score_of({"gaussian", "softmax", 1, 0, 2}, {{0.5}}) == is(-13.0 / 8));
    CHECK(score_of({"gaussian", "softmax", 1, 0, 2, false}, {}) == is(-13.0 / 8));
    CHECK(score_of({"general"}, {{1, 4, 0, 2}}) == is(1 * -1 + 2 * -2));
    // Hidden width 1: W_k k = 0.5, W_q q = -0.25.
    const std::vector<double> w_k{0.25, 0.25}, w_q{0.25, -0.25}, w_v{3};
    CHECK(score_of({"additive"}, {w_k, w_q, w_v}) == is(3 * std::tanh(0.25)));
    const double first = std::tanh(0.5 + 0.125 - 0.25);
    CHECK(score_of({"network"}, {w_k, {0.125}, w_q, w_v, {2}, {-0.5}}) == is(3 * std::tanh(2 * first - 0.5)));
  }

  TEST_CASE("attention pooling: relu in place of softmax divides by the number of keys that may be seen") {
    const Tensor scores = t({2, -1, 4, 3, 5, 7}, {2, 1, 3});
    CHECK(masked_relu(scores, Mask::lengths(Ids({2, 0}))).value().values() == std::vector<double>{1, 0, 0, 0, 0, 0});
    CHECK(masked_relu(scores, {}).value().at(3) == 1);
    // What is hidden may be anything.
    const Var broken = t({2, -1, std::nan("")}, {1, 1, 3});
    CHECK(masked_relu(broken, Mask::lengths(Ids({2}))).value().values() == std::vector<double>{1, 0, 0});
    CHECK_THROWS_WITH(masked_relu(scores, Mask::lengths(Ids({2}))),
                      "masked_relu: the mask's lengths must be [2]; given [1]");
  }

  TEST_CASE("attention pooling: equal keys share, a query without keys gets zeros and gives no gradient") {
    core::Random random(5);
    const Mask mask = Mask::lengths(Ids({3, 0}));
    const Tensor key = random_tensor(random, {2, 1, 4}, DType::f64);
    const Var q = watch(random_tensor(random, {2, 2, 4}, DType::f64)), k = watch(expand(key, {2, 5, 4}).value()),
              v = watch(random_tensor(random, {2, 5, 3}, DType::f64));
    each_pooling([&](const std::string& score, const std::string& normaliser) {
      CAPTURE(score);
      CAPTURE(normaliser);
      ParameterStore store(DType::f64, 4);
      const AttentionPooling pooling(Scope(store), 4, 4, {score, normaliser, 6});
      Tape tape;
      const auto [context, weights] = pooled(pooling, q, k, v, mask);
      const double share = weights.value().at(0);
      CHECK(share >= 0);
      if (normaliser == "softmax") CHECK(share == doctest::Approx(1.0 / 3).epsilon(1e-14));
      for (Index i = 0; i < 5; ++i) CHECK(weights.value().at(i) == doctest::Approx(i < 3 ? share : 0).epsilon(1e-13));
      for (Index d = 0; d < 3; ++d) {
        const double sum = v.value().at(d) + v.value().at(3 + d) + v.value().at(6 + d);
        CHECK(context.value().at(d) == doctest::Approx(share * sum).epsilon(1e-13));
      }
      for (Index i = 2 * 3; i < 4 * 3; ++i) CHECK(context.value().at(i) == 0);
      const Gradients gradients = tape.backward(sum(square(context)));
      for (const Var& input : {q, k, v}) {
        const Tensor g = gradients[input];
        for (Index i = g.numel() / 2; i < g.numel(); ++i) CHECK(g.at(i) == 0);
      }
      CHECK(gradients[v].at(3 * 3) == 0);  // beyond the length
    });
  }

  TEST_CASE("attention pooling: additive and scaled-dot are the same fused and composed, dropout included") {
    for (const std::string score : {"additive", "scaled-dot"}) {
      const auto run = [&](bool reference) {
        return [&score, reference](const std::vector<Var>& in) {
          ParameterStore store(in[0].dtype(), 4);
          const AttentionPooling pooling(Scope(store, reference), 4, 4, {score, "softmax", 6, 0.3});
          const auto [context, weights] =
              pooling(in[0], pooling.project(in[1]), in[2], Mask::lengths(Ids({5, 0, 2})), {true, 3, 2, 1}, 7);
          return std::vector<Var>{context, weights};
        };
      };
      check_twins({{3, 2, 4}, {3, 5, 4}, {3, 5, 7}}, run(false), run(true));
    }
  }

  TEST_CASE("attention pooling: cosine knows directions alone, gaussian distances alone") {
    core::Random random(6);
    const Tensor q = random_tensor(random, {2, 3, 4}, DType::f64), k = random_tensor(random, {2, 5, 4}, DType::f64);
    ParameterStore store(DType::f64);
    const AttentionPooling cosine(Scope(store), 4, 4, {"cosine"});
    const auto cosines = [&](const Var& a, const Var& b) { return cosine.scores(a, cosine.project(b)).value(); };
    check_close(cosines(7 * Var(q), 0.01 * Var(k)), cosines(q, k), 1e-14);
    for (const double value : cosines(q, k).values()) CHECK(std::abs(value) <= 1);
    const Var nothing = watch(Tensor::zeros({2, 5, 4}, DType::f64));
    {
      Tape tape;
      const Var scores = cosine.scores(q, cosine.project(nothing));
      for (const double value : scores.value().values()) CHECK(value == 0);
      for (const double value : tape.backward(sum(scores))[nothing].values()) CHECK(value == 0);
    }

    const AttentionPooling gaussian(Scope(store) / "gaussian", 4, 4, {"gaussian"});
    check_close(gaussian.scores(Var(q) + 3, Var(k) + 3).value(), gaussian.scores(q, k).value(), 1e-13);
    // A kernel much narrower than the distances sees the nearest key alone.
    const AttentionPooling narrow(Scope(store), 1, 1, {"gaussian", "softmax", 1, 0, 0.01, false});
    const auto near = pooled(narrow, t({2.2}, {1, 1, 1}), t({1, 2, 3}, {1, 3, 1}), t({10, 20, 30}, {1, 3, 1}), {});
    CHECK(near.context.value().item() == 20);
  }

  TEST_CASE("attention pooling refuses what does not fit") {
    ParameterStore store;
    const Scope scope(store);
    const auto make = [&](const PoolingOptions& options, Index key = 4) {
      return AttentionPooling(scope, key, 3, options);
    };
    CHECK_THROWS_WITH_AS(
        make({"angle"}),
        "score: must be one of additive, dot, scaled-dot, general, cosine, gaussian, network; given angle", UsageError);
    CHECK_THROWS_WITH_AS(make({"dot", "sigmoid"}, 3), "normaliser: must be one of softmax, relu; given sigmoid",
                         UsageError);
    for (const std::string& score : score_names())
      if (!any_widths(score))
        CHECK_THROWS_WITH_AS(make({score}),
                             ("score: " + score +
                              " needs queries and keys of one width, which additive, general and network do not; "
                              "given 3 and 4")
                                 .c_str(),
                             UsageError);
    CHECK_THROWS_WITH_AS(make({"gaussian", "relu"}, 3),
                         "normaliser: must be softmax for the gaussian, whose scores are never above 0; given relu",
                         UsageError);
    for (const std::string score : {"additive", "network"})
      CHECK_THROWS_WITH(make({score, "softmax", 0}),
                        ("score: the hidden layer of " + score + " must be at least 1 wide; given 0").c_str());
    for (const bool learn : {false, true})
      CHECK_THROWS_WITH(make({"gaussian", "softmax", 1, 0, 0, learn}, 3),
                        "score: the width of the gaussian must be above 0 and finite; given 0");
  }

  // Vaswani et al. 2017, footnote 4: components of mean 0 and variance 1 have a product of variance d.
  TEST_CASE("what scaling is for: the product of d components has variance d, the scaled one 1") {
    constexpr Index draws = 4000;
    core::Random random(11);
    for (const Index d : {4, 16, 64, 256}) {
      CAPTURE(d);
      const auto normals = [&] {
        const Tensor x = Tensor::empty({draws, 1, d}, DType::f64);
        for (Index i = 0; i < x.numel(); ++i) x.set(i, random.normal());
        return Var(x);
      };
      const Var q = normals(), k = normals();
      for (const std::string score : {"dot", "scaled-dot"}) {
        ParameterStore store(DType::f64);
        const AttentionPooling pooling(Scope(store), d, d, {score});
        const double expected = score == "dot" ? static_cast<double>(d) : 1;
        // A sample variance has the relative deviation sqrt((2 + excess) / n); a product of two normals has the fourth
        // moment 9, the sum of d of them the excess 6 / d.
        const double deviation = std::sqrt((2 + 6 / static_cast<double>(d)) / draws);
        const double found = variance(pooling.scores(q, k)).value().item();
        CHECK(std::abs(found / expected - 1) < 4 * deviation);
      }
    }
  }

  TEST_CASE("what scaling is for: the gradient of the softmax falls with d, but not of scaled scores") {
    constexpr Index draws = 2000, keys = 10;
    core::Random random(12);
    const auto normals = [&](const Shape& shape) {
      const Tensor x = Tensor::empty(shape, DType::f64);
      for (Index i = 0; i < x.numel(); ++i) x.set(i, random.normal());
      return x;
    };
    // Mean length of the gradient by the scores, for random cotangents of the weights.
    const auto size = [&](const std::string& score, Index d) {
      ParameterStore store(DType::f64);
      const AttentionPooling pooling(Scope(store), d, d, {score});
      const Var scores = watch(pooling.scores(normals({draws, 1, d}), normals({draws, keys, d})).value());
      Tape tape;
      const std::vector<Var> weights{softmax(scores)};
      const Tensor g = tape.backward(weights, std::vector{normals({draws, 1, keys})})[scores];
      return mean(sqrt(sum(square(Var(g)), {-1}))).value().item();
    };
    double last = 1;
    for (const Index d : {4, 16, 64, 256}) {
      const double unscaled = size("dot", d);
      CHECK(unscaled < 0.8 * last);
      last = unscaled;
    }
    const double small = size("scaled-dot", 4);
    for (const Index d : {16, 64, 256}) CHECK(size("scaled-dot", d) == doctest::Approx(small).epsilon(0.05));
  }

  TEST_CASE("multi-head attention: padding and what comes later are hidden for every score") {
    core::Random random(8);
    const Tensor x = random_tensor(random, {2, 5, 6}, DType::f64), other = x.clone();
    // Sentence 0 differs from position 3 on, sentence 1, of three words, in its padding.
    for (const Index b : {0, 1})
      for (Index i = 3 * 6; i < 5 * 6; ++i) other.set(b * 5 * 6 + i, random.normal());
    const Mask mask = Mask::causal() & Mask::lengths(Ids({5, 3}));
    each_pooling([&](const std::string& score, const std::string& normaliser) {
      CAPTURE(score);
      CAPTURE(normaliser);
      ParameterStore store(DType::f64, 4);
      MultiHeadAttentionOptions options;
      options.heads = 2;
      options.score = score;
      options.normaliser = normaliser;
      const MultiHeadAttention attention(Scope(store), 6, options);
      const auto a = attention(x, mask, Pass(), true), b = attention(other, mask, Pass(), true);
      CHECK(a.weights.shape() == Shape{2, 2, 5, 5});
      for (Index row = 0; row < 2 * 2 * 5; ++row)
        for (Index key = 0; key < 5; ++key)
          if (key > row % 5 || (row >= 10 && key >= 3)) CHECK(a.weights.value().at(row * 5 + key) == 0);
      for (const Index sentence : {0, 1})
        for (Index i = 0; i < 3 * 6; ++i)
          CHECK(a.context.value().at(sentence * 30 + i) == b.context.value().at(sentence * 30 + i));
    });
  }

  TEST_CASE("multi-head attention: heads of another score do not step from a cache") {
    ParameterStore store;
    MultiHeadAttentionOptions options;
    options.score = "dot";
    const MultiHeadAttention attention(Scope(store), 4, options);
    core::KeyValueCache cache;
    CHECK_THROWS_WITH(attention.step(Tensor::zeros({1, 4}, DType::f32), cache, {}),
                      "multi_head_attention: steps from a cache must have the score scaled-dot with softmax; the heads "
                      "have others");
  }
}
