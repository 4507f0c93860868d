#pragma once
// The gated recurrent unit (Cho et al. 2014), in layers and directions.

#include <vector>

#include "core/ids.h"

#include "nn/dropout.h"
#include "nn/store.h"

namespace tapestry {

struct GruOptions {
  Index layers = 1;
  bool bidirectional = false;
  double dropout = 0;  // between layers
};

/// Parameters and layout of torch.nn.GRU with batch_first: weight_ih_l{k}[_reverse] [3H,in] and so on, gates in rows
/// r, z, n. Weights Xavier-uniform as the book has it, biases U(-1/sqrt(H), 1/sqrt(H)).
class Gru {
 public:
  /// Errors: a width or a number of layers below 1.
  Gru(const Scope& scope, Index input, Index hidden, const GruOptions& options = {});

  struct Output {
    Var sequence;            // [B,T,H], or [B,T,2H]: forward half first
    std::vector<Var> final;  // [B,H] for each layer and, within it, direction: the state after the last real token
  };
  /// x [B,T,in]; `initial` is like `final`, or empty for zeros; lengths [B] or absent. Recurrences stop at the length,
  /// the backward direction starts at the last real token, and the sequence is zero beyond it.
  Output operator()(const Var& x, const std::vector<Var>& initial, const Ids& lengths, const Pass& pass) const;

  /// One time step of a one-directional GRU: x [B,in], the states [B,H] of the layers, which are replaced; returns the
  /// top one. The same numbers as the call on the whole sequence gives at `position`.
  Var step(const Var& x, std::vector<Var>& states, const Pass& pass, Index position) const;

  Index hidden() const { return hidden_; }
  Index layers() const { return options_.layers; }

 private:
  struct Weights {
    Var ih, hh, bias_ih, bias_hh;
  };
  Index hidden_;
  GruOptions options_;
  bool reference_;
  Dropout dropout_;
  std::vector<Weights> weights_;  // layer by layer, forward before backward
};

}  // namespace tapestry
