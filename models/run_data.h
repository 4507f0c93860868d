#pragma once
// The text of a run, in its three parts.

#include <optional>

#include "models/alignment.h"
#include "models/corpus.h"
#include "models/run_config.h"
#include "models/segmenter.h"
#include "models/vocabulary.h"

namespace tapestry {

struct RunData {
  Corpus train, valid, test;
  /// The built-in corpus knows which test words translate which.
  std::vector<Alignment> test_alignments;
  /// How the lines became tokens.
  Segmenter segmenter;
};

/// Reads and cuts what the configuration names. Subwords are learnt from the training part unless those of a run are
/// given. Errors: those of the readers, of `split`, and of the training of subwords.
RunData load_data(const RunConfig& config, const std::optional<Segmenter>& of_run = std::nullopt);

/// A part in files of the kind the run was trained on: one tab-separated file, or a pair of aligned ones.
/// Errors (UsageError): another number of files.
Corpus read_part(const RunConfig& config, const Segmenter& segmenter, const std::vector<std::string>& files,
                 const char* option);

/// The tokenizer that suits the files: `spaces` where a line of a file has subword-nmt's joiner "@@ ", else
/// `book`. Errors: those of read_lines.
std::string suitable_tokenizer(const RunConfig& config);

/// The vocabularies of source and target: the words of the training part, those of both sides where the configuration
/// asks for a joint one; or the pieces of subwords.
std::pair<Vocabulary, Vocabulary> vocabularies(const RunConfig& config, const RunData& data);

}  // namespace tapestry
