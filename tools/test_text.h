#pragma once
// The text that a run is scored on.

#include "models/run.h"
#include "models/run_data.h"
#include "tools/options.h"

namespace tapestry {

struct TestText {
  Corpus corpus;
  std::vector<Alignment> alignments;  // of the built-in corpus; else empty
  std::string description;
};

/// Without options the test part that the run held out. --test N: the first so many of its source sentences as they
/// were drawn; --test FILE: files like the training text. With --data, or --source and --target: all of that text, or
/// the part that --test draws from it, read in the direction of the run unless --reverse or --no-reverse say otherwise.
/// Errors (UsageError): the run held out nothing, or fewer than asked for; an option without the text it needs.
TestText test_text(const Run& run, const ConfigOptions& options);

}  // namespace tapestry
