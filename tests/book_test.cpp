// The listings of Dive into Deep Learning, chapter "Attention Mechanisms" (and the parts of "Modern Recurrent Neural
// Networks" that it builds on), with what the book prints below each. models/README.md has them in a table.

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "autograd/attention.h"
#include "autograd/layer_norm.h"
#include "autograd/loss.h"
#include "autograd/ops.h"
#include "autograd/softmax.h"
#include "core/random.h"
#include "models/bleu.h"
#include "models/encoder_decoder.h"
#include "models/transformer.h"
#include "nn/attention_pooling.h"
#include "nn/positional_encoding.h"

using namespace tapestry;

namespace {

using Values = std::vector<double>;

Tensor random(const Shape& shape) {
  core::Random numbers(3);
  std::vector<double> x(static_cast<std::size_t>(shape.numel()));
  for (double& value : x) value = numbers.uniform(-1, 1);
  return Tensor::from(x, shape, DType::f64);
}

Tensor counting(const Shape& shape) {
  std::vector<double> x(static_cast<std::size_t>(shape.numel()));
  std::iota(x.begin(), x.end(), 0);
  return Tensor::from(x, shape, DType::f64);
}

// To as many places as the book prints.
Values rounded(const Var& x, double places = 4) {
  Values values = x.value().values();
  for (double& value : values) value = std::round(value * std::pow(10, places)) / std::pow(10, places);
  return values;
}

Ids zeros(Index rows, Index columns) {
  return Ids(std::vector<std::int32_t>(static_cast<std::size_t>(rows * columns), 0), {rows, columns});
}

// The toy input of "Attention Scoring Functions": equal keys, so that every key a query may see weighs the same.
struct Toy {
  Var keys = Tensor::full({2, 10, 2}, 1, DType::f64);
  Var values = counting({1, 10, 4}) + Tensor::zeros({2, 10, 4}, DType::f64);
  Mask mask = Mask::lengths(Ids({2, 6}));
};

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("the book, masked_softmax: nothing beyond the valid length, and rows of sum 1") {
    const Var x = random({2, 2, 4});
    const Tensor by_sentence = masked_softmax(x, Mask::lengths(Ids({2, 3}))).value();
    const Tensor by_query = masked_softmax(x, Mask::lengths(Ids({1, 3, 2, 4}, {2, 2}))).value();
    const auto check = [](const Tensor& y, const std::vector<Index>& lengths) {
      for (Index row = 0; row < 4; ++row) {
        double sum = 0;
        for (Index k = 0; k < 4; ++k) {
          const double weight = y.at(row * 4 + k);
          CHECK((weight > 0) == (k < lengths[static_cast<std::size_t>(row)]));
          sum += weight;
        }
        CHECK(sum == doctest::Approx(1));
      }
    };
    check(by_sentence, {2, 2, 3, 3});
    check(by_query, {1, 3, 2, 4});
  }

  TEST_CASE("the book, AdditiveAttention and DotProductAttention: 2, 3, 4, 5 and 10, 11, 12, 13") {
    const Toy toy;
    const Values printed{2, 3, 4, 5, 10, 11, 12, 13};
    ParameterStore store(DType::f64, 1);
    const AttentionPooling additive(Scope(store), 2, 20, {"additive", "softmax", 8, 0.1});
    const Var asked = random({2, 1, 20});
    CHECK(rounded(additive(asked, additive.project(toy.keys), toy.values, toy.mask, Pass()).context) == printed);
    const Var queries = random({2, 1, 2});
    const auto dot = scaled_dot_product_attention({queries}, {toy.keys}, {toy.values}, {1, 2, 4, toy.mask});
    CHECK(rounded(dot.context) == printed);
    CHECK(dot.context.shape() == Shape{2, 1, 4});
  }

  TEST_CASE("the book, batch matrix multiplication: weights of 0.1 times values 0 to 9 and 10 to 19") {
    const Var weights = Tensor::full({2, 1, 10}, 0.1, DType::f64);
    CHECK(rounded(matmul(weights, counting({2, 10, 1}))) == Values{4.5, 14.5});
  }

  TEST_CASE("the book, Seq2SeqEncoder, Seq2SeqDecoder and Seq2SeqAttentionDecoder: shapes") {
    for (const char* name : {"seq2seq", "bahdanau"}) {
      ParameterStore store(DType::f64, 1);
      const auto model = make_model({name, 10, 10, 8, 16, 2}, Scope(store));
      const bool attention = std::string(name) == "bahdanau";
      const DecoderState state = model->encode(zeros(4, 7), Ids({7, 7, 7, 7}), Pass());
      CHECK(state.hidden.size() == 2);
      CHECK(state.hidden[0].h.shape() == Shape{4, 16});
      CHECK(state.memory.shape() == (attention ? Shape{4, 7, 16} : Shape{4, 16}));
      const auto forced = model->teacher_forced(zeros(4, 7), state, Pass(), true);
      CHECK(model->output()(forced.features).shape() == Shape{4, 7, 10});
      if (attention) CHECK(forced.attention.shape() == Shape{4, 7, 7});
    }
  }

  TEST_CASE("the book, sequence_mask and MaskedSoftmaxCELoss: 2.3026, 1.1513 and 0") {
    const Var x = Tensor::from({1, 2, 3, 4, 5, 6}, {2, 3}, DType::f64);
    const Var padded = where(Ids({1, 0, 0, 1, 1, 0}, {2, 3}), x, Tensor::zeros({2, 3}, DType::f64));
    CHECK(padded.value().values() == Values{1, 0, 0, 4, 5, 0});
    // Three sentences of 4, 2 and no real tokens; the book divides each sum by the four steps.
    const std::int32_t pad = -100;
    const Ids targets({1, 1, 1, 1, 1, 1, pad, pad, pad, pad, pad, pad}, {3, 4});
    core::CrossEntropyOptions options;
    options.reduction = Reduction::none;
    options.ignore_index = pad;
    const Var loss = cross_entropy(Tensor::full({3, 4, 10}, 1, DType::f64), targets, options);
    CHECK(rounded(sum(loss, {1}) / 4) == Values{2.3026, 1.1513, 0});
  }

  TEST_CASE("the book, MultiHeadAttention: 100 wide with 5 heads, four queries of six keys") {
    ParameterStore store(DType::f64, 1);
    MultiHeadAttentionOptions options;
    options.heads = 5;
    options.bias = false;
    const MultiHeadAttention attention(Scope(store), 100, options);
    const Var x = Tensor::full({2, 4, 100}, 1, DType::f64), y = Tensor::full({2, 6, 100}, 1, DType::f64);
    const Mask mask = Mask::lengths(Ids({3, 2}));
    const auto read = attention(x, attention.project(y), mask, Pass(), true);
    CHECK(read.context.shape() == Shape{2, 4, 100});
    CHECK(read.weights.shape() == Shape{2, 5, 4, 6});
    CHECK(attention(x, mask, Pass()).context.shape() == Shape{2, 4, 100});
  }

  TEST_CASE("the book, PositionalEncoding: 60 positions, 32 wide, columns 6 to 9 of two frequencies") {
    const Tensor p = PositionalEncoding(32, DType::f64)(0, 60);
    CHECK(p.shape() == Shape{60, 32});
    for (const Index t : {0, 1, 31, 59}) {
      for (const Index i : {3, 4}) {
        const double angle = static_cast<double>(t) / std::pow(10000, static_cast<double>(2 * i) / 32);
        CHECK(p.at(t * 32 + 2 * i) == doctest::Approx(std::sin(angle)));
        CHECK(p.at(t * 32 + 2 * i + 1) == doctest::Approx(std::cos(angle)));
      }
    }
  }

  TEST_CASE("the book, PositionWiseFFN and AddNorm: the same at every position, and shapes kept") {
    ParameterStore store(DType::f64, 1);
    TransformerOptions options;
    options.width = 4;
    options.feed_forward = 5;
    options.dropout = 0.5;
    const Pass pass;
    const Var ones = Tensor::full({2, 3, 4}, 1, DType::f64);
    const Var y = FeedForward(Scope(store) / "ffn", options)(ones, pass);
    CHECK(y.shape() == Shape{2, 3, 4});
    for (Index row = 1; row < 6; ++row)
      for (Index i = 0; i < 4; ++i) CHECK(y.value().at(row * 4 + i) == y.value().at(i));
    const Residual add_norm(Scope(store), "1", options);
    CHECK(add_norm(ones, pass, [](const Var& x) { return x; }).shape() == Shape{2, 3, 4});
  }

  TEST_CASE("the book, LayerNorm: rows 1, 2 and 2, 3 become -1, 1") {
    const Var one = Tensor::full({2}, 1, DType::f64), zero = Tensor::zeros({2}, DType::f64);
    const Var x = Tensor::from({1, 2, 2, 3}, {2, 2}, DType::f64);
    CHECK(rounded(layer_norm(x, one, zero), 3) == Values{-1, 1, -1, 1});
  }

  TEST_CASE("the book, EncoderBlock, TransformerEncoder and DecoderBlock: 2, 100, 24") {
    ModelShape shape{"transformer", 200, 200};
    shape.transformer = {24, 48, 8, 2, false, false, false, false, 0.5};
    ParameterStore store(DType::f64, 1);
    const Transformer model(shape, Scope(store));
    Transformer::Weights weights;
    const DecoderState state = model.encode(zeros(2, 100), Ids({3, 2}), Pass(), &weights);
    CHECK(state.memory.shape() == Shape{2, 100, 24});
    CHECK(weights.encoder.size() == 2);
    CHECK(weights.encoder[0].shape() == Shape{2, 8, 100, 100});
    CHECK(model.decode(zeros(2, 100), state, Pass(), &weights).shape() == Shape{2, 100, 24});
    CHECK(weights.decoder[1].cross.shape() == Shape{2, 8, 100, 100});
  }

  TEST_CASE("the book, bleu: a perfect translation, and one that was cut") {
    const auto score = [](const Tokens& said, const Tokens& reference) { return book_bleu(said, reference, 2); };
    CHECK(score({"va", "!"}, {"va", "!"}) == doctest::Approx(1));
    // exp(1 - 4/3) (3/3)^(1/2) (2/2)^(1/4)
    CHECK(score({"il", "est", "riche"}, {"il", "est", "riche", "."}) == doctest::Approx(0.7165313));
  }
}
