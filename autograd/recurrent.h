#pragma once
// Recurrent cells as single ops: one step of one, and a layer in one direction over whole sequences.

#include "autograd/var.h"
#include "core/ids.h"

namespace tapestry {

/// What a cell hands on from step to step, each [B,H]; c of an LSTM only.
struct RecurrentState {
  Var h, c;
};

/// One step: x [B,I] and the state before it -> the state after it. With sigma the logistic function:
///
///   rnn_cell    h' = tanh(W_ih x + b_ih + W_hh h + b_hh)                         (Elman 1990)
///
///   gru_cell    r  = sigma(W_ir x + b_ir + W_hr h + b_hr)                        (Cho et al. 2014, as PyTorch has it)
///               z  = sigma(W_iz x + b_iz + W_hz h + b_hz)
///               n  = tanh(W_in x + b_in + r (W_hn h + b_hn))
///               h' = (1 - z) n + z h
///
///   lstm_cell   i, f, o = sigma(W_i. x + b_i. + W_h. h + b_h.), each with its own
///               g  = tanh(W_ig x + b_ig + W_hg h + b_hg)
///               c' = f c + i g                h' = o tanh(c')
///
/// (the last by Hochreiter and Schmidhuber 1997, with the gate f of Gers et al. 2000).
///
/// Rows of w_ih [GH,I], w_hh [GH,H] and of the biases [GH] (which may be absent), for G = 1; 3: r, z, n; 4: i, f, g, o.
/// Errors: shapes that do not fit together.
Var rnn_cell(const Var& x, const Var& h, const Var& w_ih, const Var& w_hh, const Var& b_ih, const Var& b_hh);
Var gru_cell(const Var& x, const Var& h, const Var& w_ih, const Var& w_hh, const Var& b_ih, const Var& b_hh);
RecurrentState lstm_cell(const Var& x, const Var& h, const Var& c, const Var& w_ih, const Var& w_hh, const Var& b_ih,
                         const Var& b_hh);

struct RecurrentOutput {
  Var y;         // [B,T,H], zeros past a sentence's length
  Var h_n, c_n;  // [B,H], the state after the last step of each sentence; c_n of an LSTM only
};

/// One layer in one direction over whole sequences: x [B,T,I], first states h0, c0 [B,H] (absent: zeros). With lengths
/// [B] a sentence's state stops there; `reverse` starts at its last token, and y stays in the order of x.
RecurrentOutput rnn(const Var& x, const Var& h0, const Var& w_ih, const Var& w_hh, const Var& b_ih, const Var& b_hh,
                    const Ids& lengths = {}, bool reverse = false);
RecurrentOutput gru(const Var& x, const Var& h0, const Var& w_ih, const Var& w_hh, const Var& b_ih, const Var& b_hh,
                    const Ids& lengths = {}, bool reverse = false);
RecurrentOutput lstm(const Var& x, const Var& h0, const Var& c0, const Var& w_ih, const Var& w_hh, const Var& b_ih,
                     const Var& b_hh, const Ids& lengths = {}, bool reverse = false);

/// The same from plain ops, step by step.
Var rnn_cell_reference(const Var& x, const Var& h, const Var& w_ih, const Var& w_hh, const Var& b_ih, const Var& b_hh);
Var gru_cell_reference(const Var& x, const Var& h, const Var& w_ih, const Var& w_hh, const Var& b_ih, const Var& b_hh);
RecurrentState lstm_cell_reference(const Var& x, const Var& h, const Var& c, const Var& w_ih, const Var& w_hh,
                                   const Var& b_ih, const Var& b_hh);
RecurrentOutput rnn_reference(const Var& x, const Var& h0, const Var& w_ih, const Var& w_hh, const Var& b_ih,
                              const Var& b_hh, const Ids& lengths = {}, bool reverse = false);
RecurrentOutput gru_reference(const Var& x, const Var& h0, const Var& w_ih, const Var& w_hh, const Var& b_ih,
                              const Var& b_hh, const Ids& lengths = {}, bool reverse = false);
RecurrentOutput lstm_reference(const Var& x, const Var& h0, const Var& c0, const Var& w_ih, const Var& w_hh,
                               const Var& b_ih, const Var& b_hh, const Ids& lengths = {}, bool reverse = false);

}  // namespace tapestry
