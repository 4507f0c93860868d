#include "tools/bench_step.h"

#include "tools/random_sentence.h"

namespace tapestry {
namespace {

std::vector<Example> random_examples(const RunConfig& config, Index source_vocabulary, Index target_vocabulary) {
  core::Random random(1);
  std::vector<Example> examples;
  for (Index b = 0; b < config.batch; ++b)
    examples.push_back({random_sentence(random, source_vocabulary, config.length),
                        random_sentence(random, target_vocabulary, config.length)});
  return examples;
}

}  // namespace

BenchStep::Recipe BenchStep::recipe(const std::string& name) {
  Recipe recipe{preset(name == "lstm" ? "d2l-bahdanau" : name)};
  if (name == "lstm") recipe.config.cell = name;
  if (name.starts_with("transformer-")) {
    recipe.source_vocabulary = recipe.target_vocabulary = 10000;
    recipe.config.batch = name == "transformer-base" ? 32 : 128;
    recipe.config.length = name == "transformer-base" ? 32 : 16;
    recipe.config.final_norm = "on";  // as torch.nn.Transformer, beside which it is timed
    recipe.config.clip = 0;
    recipe.config.label_smoothing = 0.1;
  }
  return recipe;
}

BenchStep::BenchStep(const std::string& name, int threads, Index shards, bool low_memory)
    : recipe_(recipe(name)),
      workers_(threads),
      store_(DType::f32, recipe_.config.seed),
      model_(make_model(recipe_.config.shape(recipe_.source_vocabulary, recipe_.target_vocabulary), Scope(store_))),
      adam_(store_.pieces()),
      step_(*model_, store_, adam_, workers_,
            {static_cast<std::size_t>(shards), recipe_.config.divisor, recipe_.config.clip,
             recipe_.config.label_smoothing, low_memory}),
      examples_(random_examples(recipe_.config, recipe_.source_vocabulary, recipe_.target_vocabulary)),
      rows_(all_rows(examples_)),
      pass_{true, recipe_.config.seed, 0, 0} {}

UpdateResult BenchStep::operator()() {
  ++pass_.update;
  return step_(rows_, pass_, recipe_.config.lr);
}

}  // namespace tapestry
