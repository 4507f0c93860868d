#pragma once
// Recurrent cells in layers and directions.

#include <string>
#include <vector>

#include "autograd/recurrent.h"
#include "core/recurrent.h"
#include "nn/dropout.h"
#include "nn/store.h"

namespace tapestry {

/// rnn, gru, lstm: as core/recurrent.h defines them.
const std::vector<std::string>& cell_names();

struct RecurrentOptions {
  std::string cell = "gru";  // one of cell_names()
  Index layers = 1;
  bool bidirectional = false;
  double dropout = 0;  // between layers
};

/// Parameters and layout of torch.nn.RNN, GRU and LSTM with batch_first: weight_ih_l{k}[_reverse] [GH,in] and so on,
/// with G gates in rows: one; r, z, n; i, f, g, o. Weights Xavier-uniform as the book has it, biases U(-1/sqrt(H),
/// 1/sqrt(H)).
class Recurrent {
 public:
  /// Errors: a width or a number of layers below 1; UsageError: an unknown cell.
  Recurrent(const Scope& scope, Index input, Index hidden, const RecurrentOptions& options = {});

  struct Output {
    Var sequence;                       // [B,T,H], or [B,T,2H]: forward half first
    std::vector<RecurrentState> final;  // for each layer and, within it, direction: after the last real token
  };
  /// x [B,T,in]; `initial` is like `final`, or empty for zeros; lengths [B] or absent. Recurrences stop at the length,
  /// the backward direction starts at the last real token, and the sequence is zero beyond it. Padding may hold any
  /// finite number.
  Output operator()(const Var& x, const std::vector<RecurrentState>& initial, const Ids& lengths,
                    const Pass& pass) const;

  /// One time step of one direction: x [B,in], the states of the layers, which are replaced; returns h of the top one,
  /// [B,H]. The same numbers as the call on the whole sequence gives at `position`.
  Var step(const Var& x, std::vector<RecurrentState>& states, const Pass& pass, Index position) const;

  Index hidden() const { return hidden_; }
  Index layers() const { return options_.layers; }

 private:
  struct Weights {
    Var ih, hh, bias_ih, bias_hh;
  };
  RecurrentOutput run(const Weights& p, const Var& x, const RecurrentState& first, const Ids& lengths,
                      bool reverse) const;
  RecurrentState run_cell(const Weights& p, const Var& x, const RecurrentState& state) const;

  Index hidden_;
  RecurrentOptions options_;
  core::Cell cell_;
  bool reference_;
  Dropout dropout_;
  std::vector<Weights> weights_;  // layer by layer, forward before backward
};

}  // namespace tapestry
