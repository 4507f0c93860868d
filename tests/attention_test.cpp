#include "autograd/attention.h"

#include <doctest/doctest.h>

#include <cmath>

#include "autograd/ops.h"
#include "tests/twins.h"

using namespace tapestry;

namespace {

std::vector<Var> both(const AttentionOutput& output) {
  return {output.context, output.weights};
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("additive attention of one query over two keys by hand") {
    const auto t = [](std::initializer_list<double> values, const Shape& shape) {
      return Tensor::from(values, shape, DType::f64);
    };
    const auto output = additive_attention(t({0.5, -1}, {1, 1, 2}), t({0.25, 0.5, -0.75, 2}, {1, 2, 2}),
                                           t({2, 3}, {1, 2}), t({1, 10, 100, 2, 20, 200}, {1, 2, 3}));
    const double s0 = 2 * std::tanh(0.75) + 3 * std::tanh(-0.5), s1 = 2 * std::tanh(-0.25) + 3 * std::tanh(1);
    const double w0 = std::exp(s0) / (std::exp(s0) + std::exp(s1));
    CHECK(output.weights.value().at(0) == doctest::Approx(w0).epsilon(1e-14));
    CHECK(output.weights.value().at(1) == doctest::Approx(1 - w0).epsilon(1e-14));
    for (Index d = 0; d < 3; ++d)
      CHECK(output.context.value().at(d) == doctest::Approx(std::pow(10, d) * (2 - w0)).epsilon(1e-14));
  }

  TEST_CASE("fused additive attention equals the plain one") {
    struct Size {
      Index queries, keys, width, depth;
    };
    const Ids lengths({7, 0, 3}), each({1, 2, 3, 4, 5, 0, 7, 7, 0, 2, 1, 1}, {3, 4});
    for (const Size& s : {Size{1, 7, 5, 3}, Size{4, 7, 19, 33}}) {
      const std::vector<Shape> shapes = {
          {3, s.queries, s.width}, {3, s.keys, s.width}, {1, s.width}, {3, s.keys, s.depth}};
      std::vector<Mask> masks = {{}, Mask::lengths(lengths), Mask::causal(), Mask::window(1) & Mask::lengths(lengths)};
      if (s.queries == 4) masks.push_back(Mask::lengths(each));
      for (const Mask& mask : masks) {
        for (const double p : {0.0, 0.4, 1.0}) {
          CAPTURE(p);
          const DropoutKey key{5, 4, 3, 2, 1};
          check_twins(
              shapes,
              [&](const auto& in) { return both(additive_attention(in[0], in[1], in[2], in[3], mask, p, key)); },
              [&](const auto& in) {
                return both(additive_attention_reference(in[0], in[1], in[2], in[3], mask, p, key));
              });
        }
      }
    }
  }

  TEST_CASE("fused additive attention equals the plain one where it is too large to store what tanh gave") {
    // 3 * 40 * 50 * 70 numbers of either type are above the limit of a megabyte.
    check_twins(
        {{3, 40, 70}, {3, 50, 70}, {1, 70}, {3, 50, 6}},
        [&](const auto& in) { return both(additive_attention(in[0], in[1], in[2], in[3])); },
        [&](const auto& in) { return both(additive_attention_reference(in[0], in[1], in[2], in[3])); });
  }

  TEST_CASE("keys beyond the length do not matter, not even as NaN, and a query without keys gets zeros") {
    core::Random random(2);
    const Tensor query = random_tensor(random, {2, 1, 3}, DType::f32), w_v = random_tensor(random, {3}, DType::f32);
    const Tensor keys = random_tensor(random, {2, 4, 3}, DType::f32),
                 values = random_tensor(random, {2, 4, 2}, DType::f32);
    const Tensor other = keys.clone();
    for (Index i = 2 * 3; i < 8 * 3; ++i) other.set(i, std::nan(""));
    const Mask mask = Mask::lengths(Ids({2, 0}));
    const Var watched = watch(query);
    const auto a = additive_attention(watched, keys, w_v, values, mask);
    Tape tape;
    const auto b = additive_attention(watched, other, w_v, values, mask);
    CHECK(a.context.value().values() == b.context.value().values());
    for (Index d = 0; d < 2; ++d) CHECK(b.context.value().at(2 + d) == 0);
    for (Index k = 0; k < 4; ++k) CHECK(b.weights.value().at(4 + k) == 0);
    const Tensor dquery = tape.backward(sum(square(b.context)))[watched];
    CHECK(dquery.at(0) != 0);
    for (Index i = 3; i < 6; ++i) CHECK(dquery.at(i) == 0);
  }

  TEST_CASE("scaled dot-product attention: keys and values beyond the length do not matter, not even as NaN") {
    core::Random random(3);
    for (const DType dtype : {DType::f32, DType::f64}) {
      for (const double p : {0.0, 0.5}) {
        HeadOptions options{2, 3, 0, Mask::lengths(Ids({2, 5})), p};
        std::vector<Tensor> clean, spoilt;
        for (int i = 0; i < 3; ++i) clean.push_back(random_tensor(random, {2, i == 0 ? 3 : 7, 6}, dtype));
        for (const Tensor& x : clean) spoilt.push_back(x.clone());
        for (int i = 1; i < 3; ++i) {  // sentence 0 has keys 0 and 1, sentence 1 has 0 to 4
          for (Index at = 2 * 6; at < 7 * 6; ++at) spoilt[static_cast<std::size_t>(i)].set(at, std::nan(""));
          for (Index at = 12 * 6; at < 14 * 6; ++at) spoilt[static_cast<std::size_t>(i)].set(at, std::nan(""));
        }
        const auto run = [&](const std::vector<Tensor>& inputs) {
          const Var q = watch(inputs[0]), k = watch(inputs[1]), v = watch(inputs[2]);
          Tape tape;
          const Var context = scaled_dot_product_attention({q}, {k}, {v}, options).context;
          const Gradients gradients = tape.backward(sum(square(context)));
          std::vector<std::vector<double>> all;
          for (const Tensor& x : {context.value(), gradients[q], gradients[k], gradients[v]}) all.push_back(x.values());
          return all;
        };
        CHECK(run(clean) == run(spoilt));
      }
    }
  }

  TEST_CASE("attention refuses what does not fit") {
    const auto t = [](const Shape& shape) { return Var(Tensor::zeros(shape, DType::f32)); };
    const Var q = t({2, 3, 4}), k = t({2, 5, 4}), w = t({1, 4}), v = t({2, 5, 6});
    CHECK_THROWS_WITH(additive_attention(t({2, 4}), k, w, v),
                      "additive_attention: queries must be [B,Q,A]; given [2, 4]");
    CHECK_THROWS_WITH(additive_attention(q, t({2, 5, 3}), w, v),
                      "additive_attention: keys must be [2,K,4] for queries [2, 3, 4]; given [2, 5, 3]");
    CHECK_THROWS_WITH(additive_attention(q, k, t({4, 1}), v), "additive_attention: w_v must be [4]; given [4, 1]");
    CHECK_THROWS_WITH(additive_attention(q, k, w, t({2, 4, 6})),
                      "additive_attention: values must be [2,5,D] for keys [2, 5, 4]; given [2, 4, 6]");
    CHECK_THROWS_WITH(additive_attention(q, k, w, v, Mask::lengths(Ids({1, 2, 3}))),
                      "additive_attention: the mask's lengths must be [2]; given [3]");
    CHECK_THROWS_WITH(additive_attention(q, k, w, v, {}, 2), "dropout: p must lie in [0, 1]; given 2");
  }

  TEST_CASE("scaled dot-product attention of one query over two keys by hand") {
    const auto t = [](std::initializer_list<double> values, const Shape& shape) {
      return Tensor::from(values, shape, DType::f64);
    };
    const auto output =
        scaled_dot_product_attention({t({0.5, -1, 2, 3}, {1, 1, 4})}, {t({1, 2, 0, 1, 3, -1, 1, 0}, {1, 2, 4})},
                                     {t({1, 10, 2, 20}, {1, 2, 2})}, {2, 2, 1, {}, 0, {}, true});
    // Head 0: q (0.5, -1), keys (1, 2) and (3, -1): scores -1.5 and 2.5. Head 1: q (2, 3), keys (0, 1), (1, 0): 3, 2.
    const double w0 = 1 / (1 + std::exp(4 / std::sqrt(2.0))), w1 = 1 / (1 + std::exp(-1 / std::sqrt(2.0)));
    CHECK(output.weights.value().at(0) == doctest::Approx(w0).epsilon(1e-14));
    CHECK(output.weights.value().at(2) == doctest::Approx(w1).epsilon(1e-14));
    CHECK(output.context.value().at(0) == doctest::Approx(2 - w0).epsilon(1e-14));
    CHECK(output.context.value().at(1) == doctest::Approx(20 - 10 * w1).epsilon(1e-14));
  }

  TEST_CASE("fused scaled dot-product attention equals the plain one") {
    struct Size {
      Index queries, keys, heads, width, value_width;
    };
    const Ids lengths({7, 0, 3}), each({1, 2, 3, 4, 5, 0, 7, 7, 0, 2, 1, 1}, {3, 4});
    for (const Size& s : {Size{1, 7, 1, 5, 3}, Size{4, 7, 2, 8, 8}, Size{4, 17, 3, 9, 2}, Size{70, 131, 1, 3, 4}}) {
      const std::vector<Shape> shapes = {{3, s.queries, s.heads * s.width + 1},
                                         {3, s.keys, s.heads * s.width + 2},
                                         {3, s.keys, s.heads * s.value_width}};
      std::vector<Mask> masks = {{}, Mask::lengths(lengths), Mask::causal(), Mask::window(1) & Mask::lengths(lengths)};
      if (s.queries == 4) masks.push_back(Mask::lengths(each));
      for (const Mask& mask : masks) {
        for (const double p : {0.0, 0.4, 1.0}) {
          for (const bool weights : {false, true}) {
            CAPTURE(p);
            const HeadOptions options{s.heads, s.width, s.value_width, mask, p, {5, 4, 3, 2, 1}, weights};
            const auto outputs = [&](const AttentionOutput& output) {
              return weights ? both(output) : std::vector{output.context};
            };
            check_twins(
                shapes,
                [&](const auto& in) {
                  return outputs(scaled_dot_product_attention({in[0], 1}, {in[1], 2}, {in[2]}, options));
                },
                [&](const auto& in) {
                  return outputs(scaled_dot_product_attention_reference({in[0], 1}, {in[1], 2}, {in[2]}, options));
                });
          }
        }
      }
    }
  }

  TEST_CASE("attention within a window equals the plain one, whose other weights are masked") {
    // Bands of several blocks, shorter and longer than what is kept for backward.
    const Ids lengths({200, 75});
    for (const Index radius : {0, 3, 20, 60}) {
      for (const Mask& mask : {Mask::window(radius), Mask::window(radius) & Mask::causal(),
                               Mask::window(radius) & Mask::lengths(lengths)}) {
        for (const bool weights : {false, true}) {
          CAPTURE(radius);
          const HeadOptions options{2, 3, 2, mask, weights ? 0.0 : 0.3, {5, 4, 3, 2, 1}, weights};
          const auto outputs = [&](const AttentionOutput& output) {
            return weights ? both(output) : std::vector{output.context};
          };
          check_twins(
              {{2, 200, 6}, {2, 200, 6}, {2, 200, 4}},
              [&](const auto& in) { return outputs(scaled_dot_product_attention({in[0]}, {in[1]}, {in[2]}, options)); },
              [&](const auto& in) {
                return outputs(scaled_dot_product_attention_reference({in[0]}, {in[1]}, {in[2]}, options));
              });
        }
      }
    }
    // Of four positions with equal scores, the means of neighbours.
    const Var values = Tensor::from({1, 2, 4, 8}, {1, 4, 1}, DType::f64), zeros = values * 0.0;
    const Tensor means =
        scaled_dot_product_attention({zeros}, {zeros}, {values}, {1, 1, 1, Mask::window(1)}).context.value();
    const std::vector<double> wanted{1.5, 7 / 3.0, 14 / 3.0, 6};
    check_close(means, Tensor::from(wanted, {1, 4, 1}, DType::f64), 1e-14);
    CHECK_THROWS_WITH(Mask::window(-1), "mask: the radius of a window must not be negative; given -1");
  }

  TEST_CASE("memory of attention within a window grows with the length, not with its square") {
    const auto peak = [](Index length) {
      const Var x = watch(Tensor::full({1, length, 12}, 0.1, DType::f32));
      const HeadOptions options{1, 4, 4, Mask::window(8), 0.1, {5, 4, 3, 2, 1}};
      reset_peak_memory();
      const std::size_t before = memory_use().live;
      Tape tape;
      tape.backward(sum(scaled_dot_product_attention({x}, {x, 4}, {x, 8}, options).context));
      return static_cast<double>(memory_use().peak - before);
    };
    CHECK(peak(4096) < 2.3 * peak(2048));
  }

  TEST_CASE("scaled dot-product attention reads and differentiates one projection for queries, keys and values") {
    const HeadOptions options{2, 3, 3, Mask::causal()};
    check_twins(
        {{2, 5, 18}},
        [&](const auto& in) {
          return std::vector{scaled_dot_product_attention({in[0]}, {in[0], 6}, {in[0], 12}, options).context};
        },
        [&](const auto& in) {
          return std::vector{scaled_dot_product_attention_reference({in[0]}, {in[0], 6}, {in[0], 12}, options).context};
        });
  }

  TEST_CASE("scaled dot-product attention names what does not fit") {
    const auto x = [](const Shape& shape) { return Projected{Tensor::zeros(shape, DType::f32)}; };
    const HeadOptions options{2, 3};
    const auto attend = [&](const Projected& q, const Projected& k, const Projected& v) {
      scaled_dot_product_attention(q, k, v, options);
    };
    CHECK_THROWS_WITH(attend(x({2, 4, 5}), x({2, 3, 6}), x({2, 3, 6})),
                      "scaled_dot_product_attention: queries must have columns 0 to 6; given [2, 4, 5]");
    CHECK_THROWS_WITH(attend(x({2, 4, 6}), x({3, 3, 6}), x({2, 3, 6})),
                      "scaled_dot_product_attention: keys must be [2,L,*]; given [3, 3, 6]");
    CHECK_THROWS_WITH(
        attend(x({2, 4, 6}), x({2, 3, 6}), x({2, 4, 6})),
        "scaled_dot_product_attention: there must be a value for each key; given [2, 4, 6] and [2, 3, 6]");
    CHECK_THROWS_WITH(
        scaled_dot_product_attention(x({2, 4, 6}), x({2, 3, 6}), x({2, 3, 6}), {}),
        "scaled_dot_product_attention: heads and their widths must be at least 1; given 1 heads of 0 and 0");
  }
}
