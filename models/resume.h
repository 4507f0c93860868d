#pragma once
// What must be as it was for a training to go on.

#include "models/checkpoint.h"
#include "models/run.h"
#include "models/run_data.h"

namespace tapestry {

/// Errors (UsageError): the configuration asked for differs from the run's in anything that its past depends on. When
/// training ends and what it keeps may change; with the schedule linear, whose rate depends on the end, not the end
/// either. The message names the option and both values.
void require_same_training(const RunConfig& run, const RunConfig& asked);

Fingerprint fingerprint(const Corpus& corpus);

/// The run in `directory`, with fresh parameters, to be trained on by a configuration that `require_same_training`
/// accepts. Without a checkpoint that begins anew, as after a kill before the first one. Errors: the run has no
/// checkpoint, but an end (summary.json); its text or its vocabularies are not those of `data`, or its
/// checkpoint is of another training; the message says what differs.
Run resumable_run(const std::string& directory, const RunConfig& config, const RunData& data);

}  // namespace tapestry
