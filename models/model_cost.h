#pragma once
// What a training step costs, from the shapes alone.

#include "models/encoder_decoder.h"

namespace tapestry {

/// The largest rectangle of tokens that one shard works on.
struct ShardSize {
  Index sentences = 0, source = 0, target = 0;  // tokens with <eos>, padding counted
};

/// Multiplications and additions of the matrix products of one training step, forward and both ways back, a target
/// token: 6 for each element of a matrix and each token that meets it, and the products of attention.
double operations_per_token(const ModelShape& shape, const ParameterStore& store, const ShardSize& size);

struct TrainingSize {
  ShardSize shard;
  Index shards = 1;          // that are in memory at a time
  bool many_shapes = false;  // batches of similar length, so of many lengths
  double text_tokens = 0;    // of the training text, both sides
};

/// Resident memory of a process that trains, at its peak: parameters, gradients of each shard, Adam's moments, what the
/// tapes of all shards keep for backward (for each layer, term by term in the source), a block of logits, the text, the
/// program.
double predicted_peak_bytes(const ModelShape& shape, const ParameterStore& store, const TrainingSize& size);

}  // namespace tapestry
