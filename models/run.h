#pragma once
// A run: a model with its vocabularies, in memory and as a directory.
//
//   config.json         what it was trained by
//   source.vocab, target.vocab
//   subwords.model      of SentencePiece, where the run has subwords
//   model.safetensors   the best model so far
//   metrics.jsonl       a line an epoch, or a validation
//   checkpoints/        to go on from (checkpoint.h)
//   summary.json        the figures at the end: where it is, the model is finished

#include <memory>
#include <string>

#include "models/run_config.h"
#include "models/segmenter.h"
#include "models/vocabulary.h"

namespace tapestry {

struct Run {
  RunConfig config;
  Vocabulary source, target;
  Segmenter segmenter;  // from the configuration; with subwords, theirs must be set
  std::unique_ptr<ParameterStore> store;
  std::unique_ptr<EncoderDecoder> model;

  /// A fresh model for these vocabularies, drawn from the configuration's seed.
  Run(RunConfig config, Vocabulary source, Vocabulary target, DType dtype = DType::f32);
};

/// config.json, the vocabularies, and the subwords if there are any.
void save_run(const Run& run, const std::string& directory);
/// model.safetensors. All files are replaced atomically. Errors: a parameter is not finite.
void save_parameters(const ParameterStore& store, const std::string& path);

/// config.json alone. Errors: `path: must be the configuration of a run; ...`.
RunConfig load_config(const std::string& directory);
/// Reads a run back. Errors (UsageError): it has subwords, and the program is built without SentencePiece. Errors:
/// `path: ...` for whatever is missing, cut short, foreign or does not fit.
Run load_run(const std::string& directory);
/// Errors list what is missing, unexpected and of another shape; or name a parameter that is not finite.
void load_parameters(const ParameterStore& store, const std::string& path);

}  // namespace tapestry
