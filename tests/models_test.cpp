// Models, batches and training steps: what must hold whatever the parameters are.

#include <doctest/doctest.h>

#include <cmath>

#include "autograd/shape_ops.h"
#include "core/random.h"
#include "models/greedy.h"
#include "models/run.h"
#include "models/sequence_loss.h"
#include "models/training_step.h"
#include "nn/attention_pooling.h"
#include "tests/model_variants.h"
#include "tests/temporary_directory.h"

using namespace tapestry;

namespace {

const std::vector<Example> sentences{
    {{4, 5, 6, 4, 3}, {7, 8, 3}}, {{9, 3}, {10, 7, 12, 7, 3}}, {{10, 4, 8, 3}, {5, 3}}, {{6, 6, 3}, {9, 11, 4, 3}}};

ModelShape small(const std::string& name, double dropout = 0) {
  ModelShape shape{name, 11, 13, 4, 5, 2, dropout};
  shape.transformer = {8, 6, 2, 2, false, false, true, false, dropout, dropout, dropout};
  return variant(name, shape);
}

// The losses of the first 20 updates, with everything that training has.
std::vector<double> losses(const ModelShape& shape, const std::vector<Example>& examples, bool reference,
                           const TrainingStepOptions& options, int threads, DType dtype, double lr) {
  ParameterStore store(dtype, 3);
  const auto built = make_model(shape, Scope(store, reference));
  Adam adam(store.pieces());
  core::Workers workers(threads);
  TrainingStep step(*built, store, adam, workers, options);
  std::vector<double> result;
  for (std::uint64_t update = 1; update <= 20; ++update) {
    const UpdateResult now = step(all_rows(examples), Pass{true, 3, update, 0}, lr);
    result.push_back(now.nll / static_cast<double>(now.tokens));
  }
  return result;
}

std::vector<double> losses(const std::string& model, bool reference, std::size_t shards, int threads, DType dtype) {
  return losses(small(model, 0.3), sentences, reference, {shards, 0, 1}, threads, dtype, 0.01);
}

// Sentences of 2 to `longest` tokens.
std::vector<Example> random_sentences(std::size_t count, Index longest) {
  core::Random random(4);
  const auto sentence = [&](Index words) {
    std::vector<std::int32_t> ids(static_cast<std::size_t>(1 + random.below(longest - 1)));
    for (auto& id : ids) id = static_cast<std::int32_t>(4 + random.below(words - 4));
    ids.push_back(Vocabulary::eos);
    return ids;
  };
  std::vector<Example> examples;
  for (std::size_t i = 0; i < count; ++i) examples.push_back({sentence(188), sentence(201)});
  return examples;
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("fused ops and their twins train alike") {
    for (const std::string& model : model_variants()) {
      const auto fused = losses(model, false, 2, 1, DType::f32), plain = losses(model, true, 2, 1, DType::f32);
      for (std::size_t i = 0; i < fused.size(); ++i) CHECK(fused[i] == doctest::Approx(plain[i]).epsilon(1e-4));
      CHECK(fused.back() < fused.front());
    }
  }

  TEST_CASE("the book's recipe at its size loses the same with fused ops and with their twins") {
    const RunConfig config = preset("d2l-bahdanau");
    const auto examples = random_sentences(64, config.length);
    const auto run = [&](bool reference) {
      return losses(config.shape(188, 201), examples, reference, {2, config.divisor, config.clip}, 2, DType::f32,
                    config.lr);
    };
    const auto fused = run(false), plain = run(true);
    for (std::size_t i = 0; i < fused.size(); ++i) CHECK(std::abs(fused[i] - plain[i]) <= 1e-4 * plain[i]);
    CHECK(fused.back() < fused.front());
  }

  TEST_CASE("losses depend on the shards only by rounding, and on the threads not at all") {
    for (const std::string& model : model_variants()) {
      const auto one = losses(model, false, 1, 1, DType::f64), three = losses(model, false, 3, 1, DType::f64);
      for (std::size_t i = 0; i < one.size(); ++i) CHECK(one[i] == doctest::Approx(three[i]).epsilon(1e-9));
      CHECK(losses(model, false, 3, 2, DType::f32) == losses(model, false, 3, 1, DType::f32));
      // More shards than sentences: the empty ones add nothing.
      CHECK(losses(model, false, 7, 2, DType::f64).back() == doctest::Approx(one.back()).epsilon(1e-9));
    }
  }

  TEST_CASE("neither padding nor the neighbours in a batch change a sentence's loss") {
    for (const std::string& model : model_variants()) {
      ParameterStore store(DType::f64, 3);
      const auto built = make_model(small(model), Scope(store));
      double alone = 0;
      for (const Example& example : sentences) {
        const Example* const row = &example;
        alone += sequence_loss(*built, make_batch(std::span(&row, 1)), Pass{}).nll;
      }
      CHECK(sequence_loss(*built, make_batch(all_rows(sentences)), Pass{}).nll ==
            doctest::Approx(alone).epsilon(1e-12));
    }
  }

  TEST_CASE("the gradient of a padded batch is the sum of its sentences', dropout included") {
    for (const std::string& model : model_variants()) {
      ParameterStore store(DType::f64, 3);
      const auto built = make_model(small(model, 0.3), Scope(store));
      const auto together = store.gradients(), apart = store.gradients();
      const auto add = [&](const ParameterStore::Gradients& to, std::span<const Example* const> rows, Index first) {
        Tape tape{to.by_parameter};
        tape.backward(sequence_loss(*built, make_batch(rows), Pass{true, 5, 2, first}).objective);
      };
      const auto rows = all_rows(sentences);
      add(together, rows, 0);
      for (std::size_t i = 0; i < rows.size(); ++i) add(apart, std::span(&rows[i], 1), static_cast<Index>(i));
      for (std::size_t p = 0; p < store.parameters().size(); ++p) {
        const Tensor &a = together.by_parameter.slices[p], &b = apart.by_parameter.slices[p];
        for (Index i = 0; i < a.numel(); ++i)
          CHECK(std::abs(a.at(i) - b.at(i)) <= 1e-12 * std::max(1.0, std::abs(b.at(i))));
      }
    }
  }

  TEST_CASE("steps and the whole sequence are the same function, dropout included") {
    for (const std::string& model : model_variants()) {
      ParameterStore store(DType::f64, 3);
      const auto built = make_model(small(model, 0.3), Scope(store));
      const Batch batch = make_batch(all_rows(sentences));
      const Pass pass{model != "transformer", 5, 2, 1};  // whose steps are inference
      DecoderState state = built->encode(batch.source.ids, batch.source.lengths, pass);
      const Var whole = built->teacher_forced(batch.inputs, state, pass).features;  // [B,T,F]
      for (Index t = 0; t < batch.inputs.size(1); ++t) {
        const Var step = built->step(batch.inputs.column(t), state, pass).features;  // [B,F]
        for (Index b = 0; b < step.size(0); ++b)
          for (Index f = 0; f < step.size(1); ++f)
            CHECK(step.value().at(b * step.size(1) + f) ==
                  doctest::Approx(whole.value().at((b * whole.size(1) + t) * step.size(1) + f)).epsilon(1e-12));
      }
    }
  }

  TEST_CASE("attention is a distribution over the real source tokens") {
    for (const char* model : {"bahdanau", "bahdanau/lstm/both", "bahdanau-paper", "transformer"}) {
      ParameterStore store(DType::f64, 3);
      const auto built = make_model(small(model), Scope(store));
      const Batch batch = make_batch(all_rows(sentences));
      const DecoderState state = built->encode(batch.source.ids, batch.source.lengths, Pass{});
      const Tensor weights = built->teacher_forced(batch.inputs, state, Pass{}, true).attention.value();
      for (Index b = 0; b < weights.size(0); ++b)
        for (Index t = 0; t < weights.size(1); ++t) {
          double sum = 0;
          for (Index s = 0; s < weights.size(2); ++s) {
            const double w = weights.at((b * weights.size(1) + t) * weights.size(2) + s);
            if (s >= batch.source.lengths[b]) CHECK(w == 0);
            sum += w;
          }
          CHECK(sum == doctest::Approx(1));
        }
    }
  }

  TEST_CASE("with every score Bahdanau's model learns, and neither padding nor threads change anything") {
    for (const std::string& score : score_names()) {
      for (const std::string& normaliser : normaliser_names()) {
        if (score == "gaussian" && normaliser == "relu") continue;
        CAPTURE(score);
        CAPTURE(normaliser);
        ModelShape shape = small("bahdanau");
        shape.score = score;
        shape.normaliser = normaliser;
        const auto train = [&](int threads) {
          return losses(shape, sentences, false, {2, 0, 1}, threads, DType::f32, 0.01);
        };
        const auto one = train(1);
        CHECK(one == train(2));
        CHECK(one.back() < one.front());
        ParameterStore store(DType::f64, 3);
        const auto built = make_model(shape, Scope(store));
        double alone = 0;
        for (const Example& example : sentences) {
          const Example* const row = &example;
          alone += sequence_loss(*built, make_batch(std::span(&row, 1)), Pass{}).nll;
        }
        CHECK(sequence_loss(*built, make_batch(all_rows(sentences)), Pass{}).nll ==
              doctest::Approx(alone).epsilon(1e-12));
      }
    }
  }

  TEST_CASE("greedy decoding does not depend on batch or threads, and keeps the order") {
    ParameterStore store(DType::f32, 3);
    const auto built = make_model(small("bahdanau"), Scope(store));
    std::vector<std::vector<std::int32_t>> sources;
    for (const Example& example : sentences) sources.push_back(example.source);
    core::Workers one(1), two(2);
    DecodingOptions options;
    options.attention = true;
    const auto all = greedy(*built, sources, one, options);
    options.batch = 1;
    const auto each = greedy(*built, sources, two, options);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      CHECK(all[i].ids == each[i].ids);
      CHECK(all[i].ids.size() <= 2 * sources[i].size() + 10);
      CHECK(all[i].attention.shape() ==
            Shape{static_cast<Index>(all[i].ids.size()) + all[i].ended, static_cast<Index>(sources[i].size())});
    }
    options.limit = 3;
    options.stop = false;
    for (const Translation& translation : greedy(*built, sources, two, options)) CHECK(translation.ids.size() == 3);
  }

  TEST_CASE("a sentence is cut before its <eos>, inputs are shifted by <bos>") {
    const Vocabulary vocabulary({{"a", "b", "c"}}, 1);
    CHECK(with_eos({"a", "b", "c"}, vocabulary, 3) == std::vector<std::int32_t>{4, 5, 3});
    CHECK(with_eos({"a", "x"}, vocabulary, 3) == std::vector<std::int32_t>{4, 0, 3});
    const Batch batch = make_batch(all_rows(sentences));
    CHECK(batch.tokens == 14);
    CHECK(batch.source.ids.shape() == Shape{4, 5});
    CHECK(batch.inputs[0] == Vocabulary::bos);
    CHECK(batch.inputs[1] == 7);
    CHECK(batch.inputs[3] == Vocabulary::pad);
    CHECK(batch.target.lengths[1] == 5);
  }

  TEST_CASE("sentences are dealt by tokens, and an epoch holds every one once") {
    const auto rows = all_rows(sentences);  // 3, 5, 2 and 4 target tokens
    CHECK(deal(rows, 2) == std::vector<std::size_t>{0, 2, 4});
    CHECK(deal(rows, 1) == std::vector<std::size_t>{0, 4});
    CHECK(deal(rows, 6).back() == 4);
    for (const bool bucket : {false, true}) {
      const auto batches = epoch_batches(sentences, 3, bucket, 1, 1);
      std::vector<const Example*> seen;
      for (const auto& batch : batches) seen.insert(seen.end(), batch.begin(), batch.end());
      CHECK(batches.size() == 2);
      std::sort(seen.begin(), seen.end());
      CHECK(seen == rows);
      CHECK(epoch_batches(sentences, 3, bucket, 1, 1) == batches);
    }
    std::vector<Example> many(100, sentences[0]);
    CHECK(epoch_batches(many, 100, false, 1, 1) != epoch_batches(many, 100, false, 1, 2));
  }

  TEST_CASE("a loss that is not finite stops training and leaves the parameters") {
    ParameterStore store(DType::f32, 3);
    const auto built = make_model(small("seq2seq"), Scope(store));
    Adam adam(store.pieces());
    core::Workers workers(1);
    TrainingStep step(*built, store, adam, workers, {1, 0, 1});
    const double bias = store["decoder.dense.bias"].value().at(0);
    store["decoder.dense.bias"].value().set(0, std::nan(""));
    const auto before = store["encoder.embedding.weight"].value().values();
    CHECK_THROWS_WITH_AS(
        step(all_rows(sentences), Pass{true, 1, 7, 0}, 0.1),
        "training: loss and gradient must stay finite; update 7 has loss nan and norm nan; the first op "
        "is linear_cross_entropy (entry 9, forward); the parameter decoder.dense.bias itself is not "
        "finite; the first parameter whose gradient is not is encoder.embedding.weight",
        Error);
    CHECK(store["encoder.embedding.weight"].value().values() == before);
    // Nothing of the failed update is left for the next.
    store["decoder.dense.bias"].value().set(0, bias);
    const UpdateResult next = step(all_rows(sentences), Pass{true, 1, 8, 0}, 0.1);
    ParameterStore fresh(DType::f32, 3);
    const auto same = make_model(small("seq2seq"), Scope(fresh));
    Adam other(fresh.pieces());
    TrainingStep first(*same, fresh, other, workers, {1, 0, 1});
    CHECK(next.norm == first(all_rows(sentences), Pass{true, 1, 8, 0}, 0.1).norm);
  }

  TEST_CASE("training takes no more memory once every shape was seen, and gives all of it back") {
    const std::size_t before = memory_use().live;
    for (int threads : {1, 2}) {
      ParameterStore store(DType::f32, 3);
      const auto built = make_model(small("bahdanau", 0.1), Scope(store));
      Adam adam(store.pieces());
      core::Workers workers(threads);
      TrainingStep step(*built, store, adam, workers, {2, 0, 1});
      const auto rows = all_rows(sentences);
      std::uint64_t number = 0;
      const auto epoch = [&] {  // batches of three shapes
        for (std::ptrdiff_t count : {4, 3, 2})
          step(MicroBatch(rows.begin(), rows.begin() + count), Pass{true, 1, ++number, 0}, 0.01);
        return memory_use().live;
      };
      const std::size_t live = epoch();
      for (int i = 0; i < 10; ++i) CHECK(epoch() == live);
    }
    CHECK(memory_use().live == before);
  }

  TEST_CASE("parameters come back from a file, and one that does not fit is told apart") {
    const TemporaryDirectory place;
    ParameterStore first(DType::f32, 1), second(DType::f32, 2);
    make_model(small("bahdanau"), Scope(first));
    make_model(small("bahdanau"), Scope(second));
    save_parameters(first, place.file("model"));
    load_parameters(second, place.file("model"));
    for (const Var& parameter : first.parameters())
      CHECK(second[parameter.leaf()->name].value().values() == parameter.value().values());
    ParameterStore other(DType::f32, 1);
    other.parameter("encoder.embedding.weight", {2, 2}, initialise::constant(0));
    other.parameter("extra", {1}, initialise::constant(0));
    std::string message;
    try {
      load_parameters(other, place.file("model"));
    } catch (const Error& error) {
      message = error.what();
    }
    CHECK(message.find("missing [extra]") != std::string::npos);
    CHECK(message.find("of another shape [encoder.embedding.weight [11, 4] for [2, 2]]") != std::string::npos);
    CHECK(message.find("unexpected [decoder.attention.W_k.weight") != std::string::npos);
  }

  TEST_CASE("with an encoder in both directions the decoder starts from the backward one and reads both halves") {
    ParameterStore store(DType::f64, 3);
    const auto built = make_model(small("seq2seq/lstm/both"), Scope(store));
    const Batch batch = make_batch(all_rows(sentences));
    const DecoderState state = built->encode(batch.source.ids, batch.source.lengths, Pass{});
    REQUIRE(state.hidden.size() == 2);
    CHECK(state.memory.shape() == Shape{4, 10});
    CHECK(slice(state.memory, 1, 5, 10).value().values() == state.hidden[1].h.value().values());
    CHECK(state.hidden[0].c.shape() == Shape{4, 5});
    CHECK(store["decoder.rnn.weight_ih_l0"].shape() == Shape{20, 14});
    CHECK(store["encoder.rnn.weight_ih_l1_reverse"].shape() == Shape{20, 10});
    ParameterStore other(DType::f64, 3);
    const auto attentive = make_model(small("bahdanau/lstm/both"), Scope(other));
    CHECK(attentive->encode(batch.source.ids, batch.source.lengths, Pass{}).memory.shape() == Shape{4, 5, 10});
    CHECK(other["decoder.attention.W_k.weight"].shape() == Shape{5, 10});
  }

  TEST_CASE("an unknown cell names the known ones") {
    ParameterStore store;
    CHECK_THROWS_WITH_AS(make_model(small("bahdanau/elman"), Scope(store)),
                         "cell: must be one of rnn, gru, lstm; given elman", UsageError);
  }

  TEST_CASE("an unknown model names the known ones") {
    ParameterStore store;
    CHECK_THROWS_WITH_AS(make_model(small("lstm"), Scope(store)),
                         "model: must be one of bahdanau, bahdanau-paper, seq2seq, transformer; given lstm",
                         UsageError);
  }
}
