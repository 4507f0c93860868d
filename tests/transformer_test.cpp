// What must hold of the Transformer whatever its parameters are.

#include "models/transformer.h"
#include "core/safetensors.h"

#include <doctest/doctest.h>

#include <cmath>

#include "models/batch.h"
#include "models/beam_search.h"
#include "models/greedy.h"
#include "models/run.h"
#include "models/uncached.h"
#include "tests/temporary_directory.h"

using namespace tapestry;

namespace {

constexpr Index width = 8, feed_forward = 6, heads = 2, layers = 3, vocabulary = 13;

ModelShape small(bool pre_norm, double dropout = 0) {
  ModelShape shape{"transformer", vocabulary, vocabulary};
  shape.transformer = {width, feed_forward, heads, layers, pre_norm, pre_norm, true, false, dropout, dropout, dropout};
  return shape;
}

struct Built {
  ParameterStore store;
  Transformer model;

  explicit Built(const ModelShape& shape, DType dtype = DType::f64) : store(dtype, 3), model(shape, Scope(store)) {}
};

// Four sentences of 5, 2, 4 and 3 source tokens.
const PaddedIds source = pad(std::vector<std::vector<std::int32_t>>{{4, 5, 6, 4, 3}, {9, 3}, {10, 4, 8, 3}, {6, 6, 3}});
const Ids inputs({2, 7, 8, 5, 9, 2, 10, 7, 12, 7, 2, 5, 4, 4, 6, 2, 9, 11, 4, 8}, {4, 5});

Ids changed(const Ids& ids, const std::function<std::int32_t(Index, std::int32_t)>& change) {
  std::vector<std::int32_t> values(ids.values().begin(), ids.values().end());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = change(static_cast<Index>(i), values[i]);
  return Ids(std::move(values), ids.shape());
}

// ids [B,L] with `more` columns of padding.
Ids longer(const Ids& ids, Index more) {
  std::vector<std::int32_t> values;
  for (Index b = 0; b < ids.size(0); ++b)
    for (Index t = 0; t < ids.size(1) + more; ++t)
      values.push_back(t < ids.size(1) ? ids[b * ids.size(1) + t] : Vocabulary::pad);
  return Ids(std::move(values), {ids.size(0), ids.size(1) + more});
}

Ids picked_rows(const Ids& ids, const std::vector<Index>& rows) {
  std::vector<std::int32_t> values;
  const Index columns = ids.numel() / ids.size(0);
  for (const Index row : rows)
    for (Index t = 0; t < columns; ++t) values.push_back(ids[row * columns + t]);
  if (ids.shape().rank() == 1) return Ids(std::move(values));
  return Ids(std::move(values), {static_cast<Index>(rows.size()), columns});
}

Tensor features(const Transformer& model, const PaddedIds& from, const Ids& to, const Pass& pass = {}) {
  return model.decode(to, model.encode(from.ids, from.lengths, pass), pass, nullptr).value();  // [B,T,D]
}

// Element [b,t,d] of features.
double at(const Tensor& x, Index b, Index t, Index d) {
  return x.at((b * x.size(1) + t) * x.size(2) + d);
}

// Every row of weights [..,Q,K] sums to 1, and is zero from what each row may see on.
void check_distributions(const Tensor& weights, const std::function<Index(Index batch, Index query)>& seen) {
  const Index keys = weights.size(-1 + weights.rank()), queries = weights.size(weights.rank() - 2);
  const Index rows = weights.numel() / keys, rows_a_sentence = rows / weights.size(0);
  for (Index row = 0; row < rows; ++row) {
    const Index end = seen(row / rows_a_sentence, row % queries);
    double sum = 0;
    for (Index k = 0; k < keys; ++k) {
      const double w = weights.at(row * keys + k);
      CHECK(w >= 0);
      if (k >= end) CHECK(w == 0);
      sum += w;
    }
    CHECK(sum == doctest::Approx(1).epsilon(1e-12));
  }
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("what follows a target position does not change it by a single bit, in training and evaluation") {
    for (const bool pre_norm : {false, true}) {
      for (const DType dtype : {DType::f32, DType::f64}) {
        const Built built(small(pre_norm, 0.3), dtype);
        for (const bool training : {false, true}) {
          const Pass pass{training, 5, 2, 1};
          const Tensor before = features(built.model, source, inputs, pass);
          for (Index t = 0; t + 1 < inputs.size(1); ++t) {
            const Ids other = changed(inputs, [&](Index i, std::int32_t id) {
              return i % inputs.size(1) > t ? (id + 5) % static_cast<std::int32_t>(vocabulary) : id;
            });
            const Tensor after = features(built.model, source, other, pass);
            bool later_changed = false;
            for (Index b = 0; b < after.size(0); ++b)
              for (Index u = 0; u < after.size(1); ++u)
                for (Index d = 0; d < width; ++d) {
                  if (u <= t) CHECK(at(after, b, u, d) == at(before, b, u, d));
                  later_changed |= u > t && at(after, b, u, d) != at(before, b, u, d);
                }
            CHECK(later_changed);
          }
        }
      }
    }
  }

  TEST_CASE("more padding of source and target changes no real output, dropout included") {
    for (const bool pre_norm : {false, true}) {
      const Built built(small(pre_norm, 0.3));
      for (const bool training : {false, true}) {
        const Pass pass{training, 5, 2, 1};
        const Tensor before = features(built.model, source, inputs, pass);
        const Tensor after = features(built.model, {longer(source.ids, 9), source.lengths}, longer(inputs, 4), pass);
        for (Index b = 0; b < before.size(0); ++b)
          for (Index t = 0; t < before.size(1); ++t)
            for (Index d = 0; d < width; ++d) CHECK(std::abs(at(after, b, t, d) - at(before, b, t, d)) <= 1e-12);
      }
    }
  }

  TEST_CASE("what stands in the padding of the source is never read") {
    const Built built(small(false));
    const Ids other = changed(source.ids, [](Index, std::int32_t id) { return id == Vocabulary::pad ? 12 : id; });
    CHECK(features(built.model, {other, source.lengths}, inputs).values() ==
          features(built.model, source, inputs).values());
  }

  TEST_CASE("a batch in another order gives the outputs in that order") {
    const Built built(small(false));
    const std::vector<Index> order{2, 0, 3, 1};
    const Tensor before = features(built.model, source, inputs);
    const Tensor after = features(built.model, {picked_rows(source.ids, order), picked_rows(source.lengths, order)},
                                  picked_rows(inputs, order));
    for (std::size_t b = 0; b < order.size(); ++b)
      for (Index t = 0; t < before.size(1); ++t)
        for (Index d = 0; d < width; ++d)
          CHECK(std::abs(at(after, static_cast<Index>(b), t, d) - at(before, order[b], t, d)) <= 1e-12);
  }

  TEST_CASE("every layer and head gives its weights, distributions over what may be seen") {
    const Built built(small(true));
    Transformer::Weights weights;
    const DecoderState state = built.model.encode(source.ids, source.lengths, Pass(), &weights);
    built.model.decode(inputs, state, Pass(), &weights);
    REQUIRE(weights.encoder.size() == layers);
    REQUIRE(weights.decoder.size() == layers);
    const auto lengths = [](Index b, Index) -> Index { return source.lengths[b]; };
    for (const Var& layer : weights.encoder) {
      CHECK(layer.shape() == Shape{4, heads, 5, 5});
      check_distributions(layer.value(), lengths);
    }
    for (const DecoderLayer::Weights& layer : weights.decoder) {
      CHECK(layer.self.shape() == Shape{4, heads, 5, 5});
      check_distributions(layer.self.value(), [](Index, Index query) { return query + 1; });
      CHECK(layer.cross.shape() == Shape{4, heads, 5, 5});
      check_distributions(layer.cross.value(), lengths);
    }
    // The one picture: the last but one layer, the mean of its heads.
    const Tensor picture = Transformer::cross_attention(weights).value();
    const Tensor of_heads = weights.decoder[1].cross.value();
    CHECK(picture.shape() == Shape{4, 5, 5});
    CHECK(picture.at(7) == doctest::Approx((of_heads.at(7) + of_heads.at(25 + 7)) / 2).epsilon(1e-15));
  }

  TEST_CASE("steps from the cache say the same with and without weights") {
    const Built built(small(false));
    DecoderState with = built.model.encode(source.ids, source.lengths, Pass()), without = with;
    without.attention = false;
    for (Index t = 0; t < inputs.size(1); ++t) {
      const auto a = built.model.step(inputs.column(t), with, Pass());
      const auto b = built.model.step(inputs.column(t), without, Pass());
      CHECK(a.attention.shape() == Shape{4, 5});
      CHECK(!b.attention);
      CHECK(a.features.value().values() == b.features.value().values());
    }
  }

  TEST_CASE("weights of cached steps are those of the whole sequence") {
    const Built built(small(false));
    Transformer::Weights whole;
    DecoderState state = built.model.encode(source.ids, source.lengths, Pass());
    built.model.decode(inputs, state, Pass(), &whole);
    for (Index t = 0; t < inputs.size(1); ++t) {
      Transformer::Weights step;
      built.model.step(inputs.column(t), state, &step);
      REQUIRE(step.decoder.size() == layers);
      for (std::size_t i = 0; i < layers; ++i) {
        const Tensor self = step.decoder[i].self.value(), cross = step.decoder[i].cross.value();
        CHECK(self.shape() == Shape{4, heads, t + 1});
        CHECK(cross.shape() == Shape{4, heads, 1, 5});
        check_distributions(self, [&](Index, Index) { return t + 1; });
        check_distributions(cross, [](Index b, Index) -> Index { return source.lengths[b]; });
        for (Index head = 0; head < 4 * heads; ++head) {
          for (Index k = 0; k <= t; ++k)
            CHECK(std::abs(self.at(head * (t + 1) + k) - whole.decoder[i].self.value().at((head * 5 + t) * 5 + k)) <=
                  1e-12);
          for (Index k = 0; k < 5; ++k)
            CHECK(std::abs(cross.at(head * 5 + k) - whole.decoder[i].cross.value().at((head * 5 + t) * 5 + k)) <=
                  1e-12);
        }
      }
    }
  }

  TEST_CASE("after rows were chosen and sentences left, a step is the last of the prefixes that its rows have now") {
    const Built built(small(true));
    const Transformer& model = built.model;
    DecoderState state = model.encode(source.ids, source.lengths, Pass());
    // What each row said, kept here as a search would.
    std::vector<std::vector<std::int32_t>> said(4);
    std::vector<Index> sentence{0, 1, 2, 3};
    const auto step = [&](const std::vector<std::int32_t>& tokens) {
      const Tensor now = model.step(Ids(std::vector<std::int32_t>(tokens)), state, nullptr).value();  // [R,D]
      for (std::size_t r = 0; r < said.size(); ++r) said[r].push_back(tokens[r]);
      std::vector<std::int32_t> all;
      for (const auto& row : said) all.insert(all.end(), row.begin(), row.end());
      const auto rows = static_cast<Index>(said.size()), length = static_cast<Index>(said[0].size());
      const PaddedIds from{picked_rows(source.ids, sentence), picked_rows(source.lengths, sentence)};
      const Tensor whole = features(model, from, Ids(std::move(all), {rows, length}));
      for (Index r = 0; r < rows; ++r)
        for (Index d = 0; d < width; ++d) CHECK(std::abs(now.at(r * width + d) - at(whole, r, length - 1, d)) <= 1e-12);
    };
    const auto choose = [&](const std::vector<std::int32_t>& parents, const Ids& sentences) {
      std::vector<std::vector<std::int32_t>> of_parents;
      std::vector<Index> whose;
      for (const std::int32_t parent : parents) {
        of_parents.push_back(said[static_cast<std::size_t>(parent)]);
        whose.push_back(sentence[static_cast<std::size_t>(parent)]);
      }
      said = std::move(of_parents);
      sentence = std::move(whose);
      model.select(state, Ids(std::vector<std::int32_t>(parents)), sentences);
    };
    step({2, 2, 2, 2});
    step({5, 6, 7, 8});
    choose({0, 0, 1, 1, 2, 2, 3, 3}, {});  // two ways to go on for each sentence
    step({4, 5, 6, 7, 8, 9, 10, 11});
    choose({1, 0, 3, 3, 4, 5, 7, 6}, {});
    step({9, 8, 7, 6, 5, 4, 3, 10});
    choose({4, 4, 3, 2}, Ids({2, 1}));  // two sentences are done, and two change places
    step({7, 8, 9, 10});
    DecoderState copy = state;  // goes its own way
    model.step(Ids({12, 12, 12, 12}), copy, nullptr);
    model.step(Ids({11, 11, 11, 11}), copy, nullptr);
    for (std::int32_t t = 0; t < 20; ++t) step({4 + t % 9, 5, 6 + t % 7, 7});  // past the first capacity
    choose({1, 0, 3, 2}, {});
    step({4, 5, 6, 7});
  }

  TEST_CASE("with every kind of positions a step from the cache is the last position of the whole") {
    for (const std::string& kind : position_kinds()) {
      CAPTURE(kind);
      ModelShape shape = small(kind == "none");
      shape.positions = {kind, 5};
      const Built built(shape);
      const Tensor whole = features(built.model, source, inputs);
      DecoderState state = built.model.encode(source.ids, source.lengths, Pass());
      for (Index t = 0; t < inputs.size(1); ++t) {
        const Tensor now = built.model.step(inputs.column(t), state, nullptr).value();
        for (Index b = 0; b < 4; ++b)
          for (Index d = 0; d < width; ++d) CHECK(std::abs(now.at(b * width + d) - at(whole, b, t, d)) <= 1e-12);
      }
    }
  }

  TEST_CASE("a translation ends where learned positions do, and a source must not go beyond them") {
    ModelShape shape = small(false);
    shape.positions = {"learned", 5};
    const Built built(shape);
    CHECK(built.store["tgt_embed.positions.weight"].shape() == Shape{5, width});
    core::Workers workers(1);
    DecodingOptions options;
    options.stop = false;
    CHECK(greedy(built.model, {{4, 5, 6, 3}}, workers, options)[0].ids.size() == 5);
    options.beam = 3;
    CHECK(beam_search(built.model, {{4, 5, 6, 3}}, workers, options)[0][0].ids.size() == 5);
    CHECK(Uncached(built.model).most_steps() == 5);
    CHECK_THROWS_WITH_AS(greedy(built.model, {{4, 5, 6, 7, 8, 3}}, workers),
                         "positions: there must be a row of the learned table for each; given 5 rows and 6 positions",
                         Error);
  }

  TEST_CASE("steps from a cache are inference") {
    const Built built(small(false));
    DecoderState state = built.model.encode(source.ids, source.lengths, Pass());
    CHECK_THROWS_WITH_AS(static_cast<const EncoderDecoder&>(built.model).step(inputs.column(0), state, Pass{true}),
                         "transformer: steps from a cache are inference; training has all positions at once", Error);
  }

  TEST_CASE("tied embeddings are one parameter, saved once, and loaded under all of its names") {
    const Index attention = 4 * width * width + 4 * width, norm = 2 * width;
    const Index dense = 2 * width * feed_forward + feed_forward + width;
    const Index stacks = layers * (attention + dense + 2 * norm) + layers * (2 * attention + dense + 3 * norm);
    const Index table = vocabulary * width;
    const auto built = [](const char* tie) {
      ModelShape shape = small(false);
      shape.tie = tie;
      return std::make_unique<Built>(shape);
    };
    const auto none = built("none"), output = built("output"), all = built("all");
    CHECK(none->store.elements() == stacks + 3 * table + vocabulary);
    CHECK(output->store.elements() == stacks + 2 * table);
    CHECK(all->store.elements() == stacks + table);
    CHECK(none->store.aliases().empty());
    CHECK(output->store.aliases() == std::map<std::string, std::string>{{"out.weight", "tgt_embed.weight"}});
    CHECK(all->store.aliases() == std::map<std::string, std::string>{{"out.weight", "src_embed.weight"},
                                                                     {"tgt_embed.weight", "src_embed.weight"}});

    const TemporaryDirectory directory;
    const std::string path = directory.file("model.safetensors");
    all->store["out.weight"].value().set(5, 0.125);
    save_parameters(all->store, path);
    const SafetensorsFile file = read_safetensors(path);
    CHECK(file.tensors.contains("src_embed.weight"));
    CHECK(!file.tensors.contains("out.weight"));
    CHECK(file.metadata.at("alias:out.weight") == "src_embed.weight");
    CHECK(file.metadata.at("alias:tgt_embed.weight") == "src_embed.weight");
    const auto again = built("all");
    load_parameters(again->store, path);
    CHECK(again->store["tgt_embed.weight"].value().at(5) == 0.125);
    CHECK(features(again->model, source, inputs).values() == features(all->model, source, inputs).values());
  }

  TEST_CASE("sizes that do not fit together are named") {
    ModelShape shape = small(false);
    shape.transformer.heads = 3;
    CHECK_THROWS_WITH_AS(Built{shape}, "multi_head_attention: the heads must divide the width; given 3 and 8", Error);
    shape = small(false);
    shape.transformer.width = 7;
    CHECK_THROWS_WITH_AS(Built{shape},
                         "positional_encoding: the width must be even, for sines and cosines come in pairs; given 7",
                         Error);
    shape = small(false);
    shape.tie = "all";
    shape.target_vocabulary = 14;
    CHECK_THROWS_WITH_AS(Built{shape},
                         "transformer: one table for all embeddings needs one vocabulary for both sides; given 13 and "
                         "14 words",
                         Error);
  }
}
