// What the presets promise: the numbers of a recipe, and how its model starts.

#include "models/run_config.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

using namespace tapestry;

namespace {

constexpr Index width = 128, words = 500;

double root_mean_square(const std::vector<double>& values) {
  double sum = 0;
  for (const double x : values) sum += x * x;
  return std::sqrt(sum / static_cast<double>(values.size()));
}

double largest(const std::vector<double>& values) {
  double result = 0;
  for (const double x : values) result = std::max(result, std::abs(x));
  return result;
}

// U(-b, b) with b = gain sqrt(6 / (fan_in + fan_out)), in each of `parts` matrices that stand below one another.
void check_xavier(const Tensor& weight, Index parts, double gain) {
  const Index out = weight.size(0) / parts, in = weight.size(1);
  const double bound = gain * std::sqrt(6.0 / static_cast<double>(in + out));
  for (Index part = 0; part < parts; ++part) {
    const std::vector<double> values = weight.rows(part * out, (part + 1) * out).values();
    CHECK(largest(values) <= bound);
    CHECK(largest(values) > 0.99 * bound);
    CHECK(root_mean_square(values) == doctest::Approx(bound / std::sqrt(3.0)).epsilon(0.02));
  }
}

void check_normal(const Tensor& table, double deviation) {
  const std::vector<double> values = table.values();
  CHECK(root_mean_square(values) == doctest::Approx(deviation).epsilon(0.02));
  const auto within = std::count_if(values.begin(), values.end(), [&](double x) { return std::abs(x) < deviation; });
  CHECK(static_cast<double>(within) / static_cast<double>(values.size()) == doctest::Approx(0.6827).epsilon(0.02));
}

void check_constant(const Tensor& t, double value) {
  CHECK(t.values() == std::vector<double>(static_cast<std::size_t>(t.numel()), value));
}

// Every parameter of the model that this configuration makes, by its name.
void check_start(const RunConfig& config, double query_key_value_gain, double embedding_deviation) {
  ParameterStore store(DType::f64, 3);
  const auto model = make_model(config.shape(words, words), Scope(store));
  std::size_t tables = 0, projections = 0, matrices = 0;
  for (const Var& parameter : store.parameters()) {
    const std::string& name = parameter.leaf()->name;
    CAPTURE(name);
    const Tensor& value = parameter.value();
    if (name.ends_with("bias")) {
      check_constant(value, 0);
    } else if (name.find(".norm") != std::string::npos) {
      check_constant(value, 1);
    } else if (name.ends_with("embed.weight")) {
      CHECK(value.shape() == Shape{words, width});
      check_normal(value, embedding_deviation);
      ++tables;
    } else if (name.ends_with("in_proj_weight")) {
      CHECK(value.shape() == Shape{3 * width, width});
      check_xavier(value, 3, query_key_value_gain);
      ++projections;
    } else {
      check_xavier(value, 1, 1);
      ++matrices;
    }
  }
  CHECK(tables == 1);
  CHECK(projections == 4 + 2 * 4);
  CHECK(matrices == 3 * 4 + 4 * 4);  // out_proj of each attention, linear1 and linear2 of each layer
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("the model of multi30k starts as Transformers are commonly trained, or as the book's") {
    RunConfig config = preset("multi30k");
    check_start(config, std::sqrt(0.5), 1 / std::sqrt(128.0));
    config.init = "book";
    check_start(config, 1, 1);
  }

  TEST_CASE("multi30k is the recipe of Wu et al. 2021") {
    const RunConfig config = preset("multi30k");
    CHECK(config.model == "transformer");
    CHECK(config.tokenizer == "spaces");
    CHECK(config.joint_vocabulary);
    CHECK(config.min_count == 1);
    CHECK(config.length == 0);

    const ModelShape shape = config.shape(words, words);
    CHECK(shape.tie == "all");
    CHECK(shape.transformer.width == width);
    CHECK(shape.transformer.feed_forward == 256);
    CHECK(shape.transformer.heads == 4);
    CHECK(shape.transformer.layers == 4);
    CHECK_FALSE(shape.transformer.pre_norm);
    CHECK_FALSE(shape.transformer.final_norm);
    CHECK(shape.transformer.attention_bias);
    CHECK_FALSE(shape.transformer.gelu);
    CHECK(shape.transformer.dropout == 0.3);
    CHECK(shape.transformer.attention_dropout == 0);
    CHECK(shape.transformer.feed_forward_dropout == 0);

    const AdamOptions adam = config.adam();
    CHECK(adam.beta1 == 0.9);
    CHECK(adam.beta2 == 0.98);
    CHECK(adam.epsilon == 1e-8);
    CHECK(adam.weight_decay == 0);

    const Schedule rates = config.rates(config.updates);
    CHECK(rates.name == "inverse-sqrt");
    CHECK(rates.initial == 1e-7);
    CHECK(rates.peak().rate == doctest::Approx(0.005).epsilon(1e-12));
    CHECK(rates.peak().update == 2000);
    CHECK(rates.rate(8000) == doctest::Approx(0.0025).epsilon(1e-12));

    CHECK(config.label_smoothing == 0.1);
    CHECK(config.clip == 25);
    CHECK(config.divisor == 0);  // the mean over the tokens of an update
    CHECK(config.batch_tokens == 4096);
    CHECK(config.accumulate == 2);
    CHECK(config.updates == 8000);
    CHECK(config.epochs == 1000);  // more than the updates fill
    CHECK(config.validate_every == 0);
    CHECK(config.patience == 10);
    CHECK(config.keep == 10);
  }

  TEST_CASE("a score is held against the widths of a model that has one, and of no other") {
    RunConfig config = preset("quickstart-book");
    config.score = "dot";
    CHECK_NOTHROW(validate(config));
    config.bidirectional = true;
    CHECK_THROWS_WITH_AS(validate(config),
                         "--score: dot needs queries and keys of one width, which additive, general and network do "
                         "not; given 96 and 192",
                         UsageError);
    config.model = "seq2seq";
    CHECK_NOTHROW(validate(config));
    config.score = "cross";
    CHECK_THROWS_AS(validate(config), UsageError);
  }

  TEST_CASE("positions that are none are refused, and an odd width with sines and cosines") {
    RunConfig config = preset("transformer-tiny");
    config.positions = "rotary";
    CHECK_THROWS_WITH_AS(validate(config),
                         "--positions: must be one of sinusoidal, learned, none, integers; given rotary", UsageError);
    config.positions = "learned";
    config.max_positions = 0;
    CHECK_THROWS_WITH_AS(validate(config), "--max-positions: must be at least 1; given 0", UsageError);
    config.max_positions = 65537;
    CHECK_THROWS_WITH_AS(validate(config), "--max-positions: must be at most 65536; given 65537", UsageError);
    config.max_positions = 20;
    config.width = 5;
    config.heads = 5;
    CHECK_NOTHROW(validate(config));
    config.heads = 2;
    CHECK_THROWS_WITH_AS(validate(config), "--width: must be a multiple of the heads; given 5 and 2 heads", UsageError);
    config.positions = "sinusoidal";
    CHECK_THROWS_WITH_AS(validate(config),
                         "--width: must be even, for the positions, and a multiple of the heads; given 5 and 2 heads",
                         UsageError);
  }

  TEST_CASE("a configuration without what was added later, as older versions wrote it, has the values of then") {
    RunConfig config = preset("multi30k");
    nlohmann::json json = to_json(config);
    for (const char* later :
         {"low_memory", "positions", "max_positions", "score", "normaliser", "cell", "bidirectional", "residual"})
      REQUIRE(json.erase(later) == 1);
    CHECK(to_json(config_from_json(json)) == to_json(config));
    config.low_memory = config.bidirectional = true;
    config.cell = "lstm";
    CHECK(to_json(config_from_json(to_json(config))) == to_json(config));
  }

  TEST_CASE("a configuration of before there were scores means additive with softmax; others are kept") {
    RunConfig config = preset("quickstart-book");
    nlohmann::json json = to_json(config);
    REQUIRE(json.erase("score") + json.erase("normaliser") == 2);
    CHECK(to_json(config_from_json(json)) == to_json(config));
    config.score = "cosine";
    config.normaliser = "relu";
    const RunConfig read = config_from_json(to_json(config));
    CHECK(read.shape(9, 9).score == "cosine");
    CHECK(read.shape(9, 9).normaliser == "relu");
  }
}
