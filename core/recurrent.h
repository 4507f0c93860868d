#pragma once
// The gated recurrent unit over a whole sequence.

#include "core/ids.h"
#include "core/tensor.h"

namespace tapestry::core {

/// One layer in one direction over x [B,T,I]: weights w_ih [3H,I], w_hh [3H,H] and biases [3H] with rows r, z, n (as in
/// PyTorch); first state h0 [B,H]. Absent: h0 (zeros), a bias (zeros), lengths (all T). `reverse` reads each sentence
/// from its last token to its first.
struct GruInputs {
  Tensor x, h0, w_ih, w_hh, b_ih, b_hh;
  Ids lengths = {};  // [B]
  bool reverse = false;

  Index batch() const { return x.size(0); }
  Index steps() const { return x.size(1); }
  Index hidden() const { return w_hh.size(1); }
  Index length(Index b) const { return lengths ? lengths[b] : steps(); }
  /// Errors name `op` and what does not fit.
  void check(const char* op) const;
};

struct GruResult {
  Tensor y;       // [B,T,H], zeros past a sentence's length
  Tensor states;  // [B,T,H], what each step handed on: y itself, unless padding has to carry a first state
  Tensor gates;   // [B,T,4H], columns n, r, z, m of the formulas below; backward overwrites it
};

/// For each step, with sigma the logistic function (Cho et al. 2014 as PyTorch computes it):
///
///   r = sigma(W_ir x + b_ir + W_hr h + b_hr)      m = W_hn h + b_hn
///   z = sigma(W_iz x + b_iz + W_hz h + b_hz)      n = tanh(W_in x + b_in + r m)      h' = (1 - z) n + z h
///
/// Without `keep` the gates are not written back: nobody will call the backward.
GruResult gru(const GruInputs& inputs, bool keep);

/// The state after each sentence's last step in the direction of reading: [B,H].
Tensor gru_last_state(const GruInputs& inputs, const GruResult& result);

/// Where gradients are accumulated; absent where nobody wants one.
struct GruGradients {
  Tensor x, h0, w_ih, w_hh, b_ih, b_hh;
};

/// Adds the gradients for the cotangents dy [B,T,H] of y and dh_n [B,H] of the last state, either of them absent.
void gru_backward(const GruInputs& inputs, const GruResult& result, const Tensor& dy, const Tensor& dh_n,
                  const GruGradients& gradients);

}  // namespace tapestry::core
