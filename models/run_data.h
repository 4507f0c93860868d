#pragma once
// The text of a run, in its three parts.

#include "models/alignment.h"
#include "models/corpus.h"
#include "models/run_config.h"

namespace tapestry {

struct RunData {
  Corpus train, valid, test;
  /// The built-in corpus knows which test words translate which.
  std::vector<Alignment> test_alignments;
};

/// Reads and cuts what the configuration names. Errors: those of the readers, and of `split`.
RunData load_data(const RunConfig& config);

/// A part in files of the kind the run was trained on: one tab-separated file, or a pair of aligned ones.
/// Errors (UsageError): another number of files.
Corpus read_part(const RunConfig& config, const std::vector<std::string>& files, const char* option);

}  // namespace tapestry
