#pragma once
// Recurrent cells over a whole sequence.

#include "core/ids.h"
#include "core/tensor.h"

namespace tapestry::core {

enum class Cell : std::uint8_t { rnn, gru, lstm };

/// Row blocks of H that the weights of a cell have: 1; 3, r, z, n; 4, i, f, g, o (as in PyTorch).
Index gate_count(Cell cell);

/// One layer in one direction over x [B,T,I]: with G gates, weights w_ih [GH,I], w_hh [GH,H] and biases [GH]; first
/// state h0 [B,H] and of an LSTM c0 [B,H]. Absent: first states (zeros), a bias (zeros), lengths (all T). `reverse`
/// reads each sentence from its last token to its first.
struct RecurrentInputs {
  Cell cell;
  Tensor x, h0, c0, w_ih, w_hh, b_ih, b_hh;
  Ids lengths = {};  // [B]
  bool reverse = false;

  Index batch() const { return x.size(0); }
  Index steps() const { return x.size(1); }
  Index hidden() const { return w_hh.size(1); }
  Index length(Index b) const { return lengths ? lengths[b] : steps(); }
  /// Errors name `op` and what does not fit.
  void check(const char* op) const;
};

struct RecurrentResult {
  Tensor y;       // [B,T,H], zeros past a sentence's length
  Tensor states;  // [B,T,H], what each step handed on: y itself, unless padding has to carry a first state
  Tensor gates;   // [B,T,.], as core/recurrent_cells.h lays them out; backward overwrites it
};

/// For each step, with sigma the logistic function and products of vectors by element:
///
///   rnn    h' = tanh(W_ih x + b_ih + W_hh h + b_hh)                                       (Elman 1990)
///
///   gru    r = sigma(W_ir x + b_ir + W_hr h + b_hr)      m = W_hn h + b_hn                (Cho et al. 2014, as
///          z = sigma(W_iz x + b_iz + W_hz h + b_hz)      n = tanh(W_in x + b_in + r m)    PyTorch computes it)
///          h' = (1 - z) n + z h
///
///   lstm   i, f, o = sigma(W_i. x + b_i. + W_h. h + b_h.), each with its own;             (Hochreiter and Schmidhuber
///          g = tanh(W_ig x + b_ig + W_hg h + b_hg)                                        1997, with the forget gate
///          c' = f c + i g      h' = o tanh(c')                                            of Gers et al. 2000)
///
/// Without `keep` the gates are not written back: nobody will call the backward.
RecurrentResult recurrent(const RecurrentInputs& inputs, bool keep);

/// The state h after each sentence's last step in the direction of reading, and an LSTM's c: [B,H].
Tensor last_state(const RecurrentInputs& inputs, const RecurrentResult& result);
Tensor last_cell_state(const RecurrentInputs& inputs, const RecurrentResult& result);

/// Where gradients are accumulated; absent where nobody wants one.
struct RecurrentGradients {
  Tensor x, h0, c0, w_ih, w_hh, b_ih, b_hh;
};

/// Adds the gradients for the cotangents dy [B,T,H] of y and dh_n, dc_n [B,H] of the last states, any of them absent.
void recurrent_backward(const RecurrentInputs& inputs, const RecurrentResult& result, const Tensor& dy,
                        const Tensor& dh_n, const Tensor& dc_n, const RecurrentGradients& gradients);

}  // namespace tapestry::core
