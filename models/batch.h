#pragma once
// From sentences to the rectangles of ids that a model sees.

#include <span>
#include <vector>

#include "core/ids.h"
#include "models/corpus.h"
#include "models/vocabulary.h"

namespace tapestry {

/// A sentence pair in ids; each side ends with <eos>.
struct Example {
  std::vector<std::int32_t> source, target;
  std::vector<std::int32_t> words = {};  // for copying: the source as the target would say it (pointer_generator.h)
  double weight = 1;                     // of its loss, where that is a reward's (self_critical.h)
};

/// The ids of tokens with <eos>. A sentence longer than `length` (counted with <eos>; 0: no limit) is cut before its
/// <eos>, which it keeps.
std::vector<std::int32_t> with_eos(const Tokens& tokens, const Vocabulary& vocabulary, Index length);

std::vector<Example> examples(const Corpus& corpus, const Vocabulary& source, const Vocabulary& target, Index length);

/// Rows of ids padded with <pad> to the longest, and how long each is.
struct PaddedIds {
  Ids ids;      // [B,L]
  Ids lengths;  // [B]
};
PaddedIds pad(std::span<const std::vector<std::int32_t>> rows);

/// Teacher forcing (Williams and Zipser 1989): step t is given the true token t - 1, <bos> at first, and has to say
/// token t.
struct Batch {
  PaddedIds source;             // [B,S]
  Ids inputs;                   // [B,T]: <bos> and the target without its last token
  PaddedIds target;             // [B,T]
  Index tokens = 0;             // real target tokens, <eos> included
  Ids words;                    // [B,S]; [B,0] where the examples have none
  std::vector<double> weights;  // of the B sentences
};
Batch make_batch(std::span<const Example* const> rows);

/// The sentences that go through the model together, before they are dealt to shards.
using MicroBatch = std::vector<const Example*>;
/// All of them, which must outlive it.
MicroBatch all_rows(const std::vector<Example>& examples);

/// Share of the places of these rectangles, source and target, that no token fills.
double padding_share(const std::vector<MicroBatch>& batches);

/// Cuts `rows` into `shards` contiguous parts of about equally many target tokens; a part may be empty.
/// Returns the shards + 1 boundaries.
std::vector<std::size_t> deal(std::span<const Example* const> rows, std::size_t shards);

/// The batches of one epoch, in a random order that depends on (seed, epoch) alone. With `bucket`, sentences are
/// sorted by length within pools of many batches first, so that a batch has little padding.
std::vector<MicroBatch> epoch_batches(const std::vector<Example>& data, std::size_t batch, bool bucket,
                                      std::uint64_t seed, Index epoch);

/// The same, but a batch holds at most `tokens` tokens, counted with padding on the side that has more of them: its
/// sentences times the longest of both sides. All sentences are sorted by length, equal ones in a random order, so that
/// there is little padding and every epoch has the same number of batches.
/// Errors (UsageError): the longest sentence has more tokens.
std::vector<MicroBatch> token_batches(const std::vector<Example>& data, Index tokens, std::uint64_t seed, Index epoch);

}  // namespace tapestry
