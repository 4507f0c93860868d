// Batches, updates and whole small trainings in this process: what the recipe promises.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "autograd/ops.h"
#include "models/not_finite.h"
#include "models/sequence_loss.h"
#include "models/trainer.h"
#include "models/training_step.h"
#include "tests/small_training.h"

using namespace tapestry;

namespace {

Example sentence_pair(std::size_t source, std::size_t target) {
  Example example{std::vector<std::int32_t>(source, 4), std::vector<std::int32_t>(target, 5)};
  example.source.back() = example.target.back() = Vocabulary::eos;
  return example;
}

// All pairs of lengths from 2 to 12, some twice.
std::vector<Example> many_lengths() {
  std::vector<Example> examples;
  for (std::size_t s = 2; s <= 12; ++s)
    for (std::size_t t = 2; t <= 12; ++t)
      for (std::size_t copy = 0; copy <= (s + t) % 2; ++copy) examples.push_back(sentence_pair(s, t));
  return examples;
}

const std::vector<Example> sentences{
    {{4, 5, 6, 4, 3}, {7, 8, 3}}, {{9, 3}, {10, 7, 12, 7, 3}}, {{10, 4, 8, 3}, {5, 3}}, {{6, 6, 3}, {9, 11, 4, 3}}};

struct Updated {
  double peak_bytes = 0;  // of the training step, beyond parameters and moments
  std::vector<double> losses;
  std::vector<double> parameters;
};

// Three updates of the four sentences, cut into micro-batches of these sizes.
Updated update_by(const char* name, const std::vector<std::size_t>& sizes, std::size_t shards, bool low_memory = false,
                  int threads = 2) {
  ParameterStore store(DType::f64, 3);
  ModelShape shape{name, 11, 13, 4, 5, 2, 0.3};
  shape.transformer = {8, 6, 2, 2, false, false, true, false, 0.3, 0.2, 0.1};
  shape.tie = "output";
  const auto model = make_model(shape, Scope(store));
  Adam adam(store.pieces());
  core::Workers workers(threads);
  const std::size_t before = memory_use().live;
  reset_peak_memory();
  TrainingStep step(*model, store, adam, workers, {shards, 0, 0.5, 0.1, low_memory});
  std::vector<MicroBatch> batches;
  std::size_t next = 0;
  for (std::size_t size : sizes) {
    batches.emplace_back();
    for (std::size_t i = 0; i < size; ++i) batches.back().push_back(&sentences[next++]);
  }
  Updated result;
  for (std::uint64_t update = 1; update <= 3; ++update) {
    const UpdateResult now = step(batches, Pass{true, 3, update, 0}, 0.01);
    CHECK(now.tokens == 14);
    result.losses.push_back(now.nll);
  }
  result.peak_bytes = static_cast<double>(memory_use().peak - before);
  for (const Var& parameter : store.parameters())
    for (double value : parameter.value().values()) result.parameters.push_back(value);
  return result;
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("batches by tokens hold every sentence once and never more tokens than asked, padding counted") {
    const std::vector<Example> data = many_lengths();
    const std::vector<MicroBatch> batches = token_batches(data, 60, 1, 1);
    std::vector<const Example*> seen;
    std::size_t tokens = 0, places = 0;
    for (const MicroBatch& rows : batches) {
      std::size_t source = 0, target = 0;
      for (const Example* row : rows) {
        source = std::max(source, row->source.size());
        target = std::max(target, row->target.size());
        tokens += row->source.size() + row->target.size();
        seen.push_back(row);
      }
      CHECK(rows.size() * std::max(source, target) <= 60);
      places += rows.size() * (source + target);
    }
    CHECK(padding_share(batches) == doctest::Approx(1 - static_cast<double>(tokens) / static_cast<double>(places)));
    std::sort(seen.begin(), seen.end());
    CHECK(seen.size() == data.size());
    CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
    // Similar lengths stand together: there is less than half the padding of a random order.
    CHECK(2 * padding_share(batches) < padding_share(epoch_batches(data, data.size() / batches.size(), false, 1, 1)));
  }

  TEST_CASE("batches by tokens depend on seed and epoch alone, their number on neither") {
    const std::vector<Example> data = many_lengths();
    CHECK(token_batches(data, 60, 1, 1) == token_batches(data, 60, 1, 1));
    for (Index epoch = 2; epoch < 6; ++epoch) {
      CHECK(token_batches(data, 60, 1, epoch) != token_batches(data, 60, 1, 1));
      CHECK(token_batches(data, 60, 1, epoch).size() == token_batches(data, 60, 1, 1).size());
    }
    CHECK(token_batches(data, 60, 2, 1) != token_batches(data, 60, 1, 1));
    // One that just holds the longest sentence.
    for (const MicroBatch& rows : token_batches(data, 12, 1, 1)) CHECK(rows.size() >= 1);
  }

  TEST_CASE("a batch that cannot hold the longest sentence is refused") {
    const std::vector<Example> data{sentence_pair(3, 4), sentence_pair(5, 41), sentence_pair(9, 2)};
    CHECK_THROWS_WITH_AS(token_batches(data, 40, 1, 1),
                         "--batch-tokens: must hold the longest sentence, 41 tokens with <eos>; given 40", UsageError);
    CHECK(token_batches(data, 41, 1, 1).size() == 2);
  }

  TEST_CASE("micro-batches are one large batch: losses, clipping, dropout and parameters") {
    for (const char* model : {"bahdanau", "transformer"}) {
      CAPTURE(model);
      const Updated whole = update_by(model, {4}, 1);
      for (const auto& sizes : std::vector<std::vector<std::size_t>>{{1, 3}, {2, 2}, {1, 1, 1, 1}})
        for (std::size_t shards : {1, 2, 3}) {
          const Updated parts = update_by(model, sizes, shards);
          for (std::size_t i = 0; i < whole.losses.size(); ++i)
            CHECK(parts.losses[i] == doctest::Approx(whole.losses[i]).epsilon(1e-10));
          for (std::size_t i = 0; i < whole.parameters.size(); ++i)
            CHECK(std::abs(parts.parameters[i] - whole.parameters[i]) <= 1e-9);
        }
    }
  }

  TEST_CASE("with low memory, shards add into one gradient: as before but for rounding, and the same on any threads") {
    for (const char* model : {"bahdanau", "transformer"}) {
      CAPTURE(model);
      const Updated usual = update_by(model, {2, 2}, 3), low = update_by(model, {2, 2}, 3, true);
      CHECK(low.losses[0] == usual.losses[0]);
      for (std::size_t i = 0; i < usual.parameters.size(); ++i)
        CHECK(std::abs(low.parameters[i] - usual.parameters[i]) <= 1e-9);
      CHECK(update_by(model, {2, 2}, 3, true, 1).parameters == low.parameters);
      CHECK(low.peak_bytes < 0.8 * usual.peak_bytes);
    }
  }

  TEST_CASE("label smoothing spreads its share over all words; what is reported has none") {
    ParameterStore store(DType::f64, 3);
    const auto model = make_model({"seq2seq", 11, 13, 4, 5, 1, 0}, Scope(store));
    const MicroBatch rows = all_rows(sentences);
    const Batch batch = make_batch(rows);
    const Var features =
        model->teacher_forced(batch.inputs, model->encode(batch.source.ids, batch.source.lengths, {}), {}).features;
    const Tensor lp = log_softmax(model->output()(features)).value();  // [B,T,V]
    double nll = 0, all = 0;
    for (Index row = 0; row < batch.target.ids.numel(); ++row) {
      if (batch.target.ids[row] == Vocabulary::pad) continue;
      nll -= lp.at(row * 13 + batch.target.ids[row]);
      for (Index word = 0; word < 13; ++word) all -= lp.at(row * 13 + word);
    }
    const SequenceLoss smooth = sequence_loss(*model, batch, {}, 0.1), plain = sequence_loss(*model, batch, {});
    CHECK(smooth.objective.value().item() == doctest::Approx(0.9 * nll + 0.1 / 13 * all).epsilon(1e-12));
    CHECK(smooth.nll == doctest::Approx(nll).epsilon(1e-12));
    CHECK(plain.objective.value().item() == doctest::Approx(nll).epsilon(1e-12));
  }

  TEST_CASE("the first op that leaves the finite numbers is named, forward and backward") {
    const Var x = watch(Tensor::from({1, 0}, {2}, DType::f64));
    {
      FirstNotFinite search;
      const ObserverScope watched(search);
      Tape tape;
      const Var y = sum(sqrt(x * 2.0));
      CHECK(search.found().empty());
      tape.backward(y);  // the root's slope at 0 is infinite
      CHECK(search.found() == "sqrt (entry 1, backward)");
    }
    FirstNotFinite search;
    const ObserverScope watched(search);
    Tape tape;
    const Var y = exp(log(x - 1.0));
    CHECK(search.found() == "log (entry 1, forward)");
  }

  TEST_CASE("warnings: a rate too high for Adam, a first loss far above chance, translations all alike") {
    RunConfig config = small_training();
    config.updates = 2;
    const auto told = [](const Heard& heard, const std::string& what) {
      return std::count_if(heard.warnings.begin(), heard.warnings.end(),
                           [&](const std::string& warning) { return warning.starts_with(what); });
    };
    const Heard calm(config);
    CHECK(told(calm, "the rate") + told(calm, "the first loss") == 0);
    config.lr = 0.02;
    config.warmup = 2;
    CHECK(told(Heard(config), "the rate reaches 0.02 at update 2; Adam seldom learns above 0.01") == 1);
    config.lr = 1e-9;
    config.initial_lr = 0;
    const Heard loud(config, [](const ParameterStore& store) {
      store["decoder.dense.bias"].value().set(Vocabulary::eos, 1000);  // ends every sentence at once
    });
    REQUIRE(loud.warnings.size() == 2);
    const std::size_t words = Vocabulary(targets(load_data(config).train), 1).size();
    CHECK(loud.warnings[0].starts_with("the first loss is "));
    CHECK(
        loud.warnings[0].ends_with(fmt::format("far above {:.2f}, that of {} equally likely words; look at the "
                                               "initialisation and at the data",
                                               std::log(static_cast<double>(words)), words)));
    CHECK(loud.warnings[1] == "all 10 validation sentences have the same translation");
    CHECK(loud.validations[0].distinct == 0.1);
    CHECK(loud.validations[0].length_ratio == 0);
  }

  TEST_CASE("the highest rate, the end and the validations of a training are told") {
    RunConfig config = small_training();
    config.updates = 9;
    config.validate_every = 4;
    config.valid_bleu = 6;
    const Heard heard(config);
    CHECK(heard.summary.stopped == "updates");
    CHECK(heard.summary.updates == 9);
    CHECK(heard.summary.peak_rate == 0.005);
    REQUIRE(heard.validations.size() == 3);  // after updates 4, 8 and 9
    for (const Validation& validation : heard.validations) {
      CHECK(validation.translated == 6);
      CHECK(validation.samples.size() == 3);
      CHECK(validation.distinct >= 1.0 / 6);
      CHECK(validation.distinct <= 1);
      CHECK(validation.length_ratio >= 0);
      CHECK(validation.loss > 0);
    }
    config.updates = 0;
    config.validate_every = 0;
    CHECK(Heard(config).summary.stopped == "epochs");
    CHECK(Heard(config).validations.size() == 4);
  }

  TEST_CASE("patience ends training, counted in validations without a lower loss") {
    RunConfig config = small_training();
    config.schedule = "constant";
    config.lr = 1e-12;  // nothing is learned: only rounding can lower the loss
    config.epochs = 50;
    config.patience = 3;
    const Heard heard(config);
    CHECK(heard.summary.stopped == "patience");
    double best = heard.validations[0].loss;
    Index stale = 0;
    for (std::size_t i = 1; i < heard.validations.size(); ++i) {
      CHECK(stale < 3);
      stale = heard.validations[i].loss < best ? 0 : stale + 1;
      best = std::min(best, heard.validations[i].loss);
    }
    CHECK(stale == 3);
  }

  TEST_CASE("patience without a validation part is refused, whoever asked for it") {
    RunConfig config = small_training();
    config.patience = 3;
    config.valid = 0;
    CHECK_THROWS_WITH_AS(Heard{config}, "--patience: needs a validation part; give --valid, or --patience 0",
                         UsageError);
    config.patience = 0;
    CHECK(Heard(config).summary.stopped == "epochs");
  }
}
