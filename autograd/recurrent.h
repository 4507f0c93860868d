#pragma once
// Recurrent layers as single ops.

#include "autograd/var.h"
#include "core/ids.h"

namespace tapestry {

/// One step of a gated recurrent unit (Cho et al. 2014) as PyTorch computes it: x [B,I], h [B,H] -> h' [B,H].
///
///   r = sigma(W_ir x + b_ir + W_hr h + b_hr)      n  = tanh(W_in x + b_in + r (W_hn h + b_hn))
///   z = sigma(W_iz x + b_iz + W_hz h + b_hz)      h' = (1 - z) n + z h
///
/// Rows of w_ih [3H,I], w_hh [3H,H] and of the biases [3H] (which may be absent) are r, z, n.
/// Errors: shapes that do not fit together.
Var gru_cell(const Var& x, const Var& h, const Var& w_ih, const Var& w_hh, const Var& b_ih, const Var& b_hh);

struct GruOutput {
  Var y;    // [B,T,H], zeros past a sentence's length
  Var h_n;  // [B,H], the state after the last step of each sentence
};

/// One layer in one direction over whole sequences: x [B,T,I], first state h0 [B,H] (absent: zeros). With lengths [B]
/// a sentence's state stops there; `reverse` starts at its last token, and y stays in the order of x.
GruOutput gru(const Var& x, const Var& h0, const Var& w_ih, const Var& w_hh, const Var& b_ih, const Var& b_hh,
              const Ids& lengths = {}, bool reverse = false);

/// The same from plain ops, step by step.
Var gru_cell_reference(const Var& x, const Var& h, const Var& w_ih, const Var& w_hh, const Var& b_ih, const Var& b_hh);
GruOutput gru_reference(const Var& x, const Var& h0, const Var& w_ih, const Var& w_hh, const Var& b_ih, const Var& b_hh,
                        const Ids& lengths = {}, bool reverse = false);

}  // namespace tapestry
