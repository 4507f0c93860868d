#pragma once
// A run: a model with its vocabularies, in memory and as a directory.
//
//   config.json         what it was trained by
//   source.vocab, target.vocab
//   model.safetensors   the best model so far
//   metrics.jsonl       a line an epoch
//   summary.json        the figures at the end

#include <memory>
#include <string>

#include "models/run_config.h"
#include "models/vocabulary.h"

namespace tapestry {

struct Run {
  RunConfig config;
  Vocabulary source, target;
  std::unique_ptr<ParameterStore> store;
  std::unique_ptr<EncoderDecoder> model;

  /// A fresh model for these vocabularies, drawn from the configuration's seed.
  Run(RunConfig config, Vocabulary source, Vocabulary target, DType dtype = DType::f32);
};

/// Makes `directory` ready for a new run. Errors: it holds a run and `force` is false; it holds files but no run; it
/// cannot be made. Nothing in it is touched here but, with `force`, the records of the old run.
void prepare_run_directory(const std::string& directory, bool force);

/// config.json and the vocabularies.
void save_run(const Run& run, const std::string& directory);
/// model.safetensors. All files are replaced atomically.
void save_parameters(const ParameterStore& store, const std::string& path);

/// Reads a run back. Errors: `path: ...` for whatever is missing, cut short, foreign or does not fit.
Run load_run(const std::string& directory);
/// Errors list what is missing, unexpected and of another shape.
void load_parameters(const ParameterStore& store, const std::string& path);

}  // namespace tapestry
