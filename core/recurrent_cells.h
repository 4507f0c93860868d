#pragma once
// What tells the recurrent cells apart: where their gates lie, and their formulas forward and backward. How a sequence
// is walked, the same for all of them, is in core/recurrent.cpp.

#include "core/for_vectors.h"
#include "core/functions.h"
#include "core/recurrent.h"
#include "core/tanh.h"

// One buffer `gates` goes through the whole computation, so that a training step stays in the cache. Its rows [B,T]
// have blocks of H columns; a cell says how many (`blocks`), how many of them the weights have as rows (`gates`), and
// from which block on the product with the state is added (`recurrent`); that with x goes to the first ones. So row
// block j of W_hh is block recurrent + j, and row block j of W_ih is block (recurrent + j) mod gates. Before a step the
// blocks hold sums, then the gates, and after backward the derivatives by the sums, from which both products get theirs
// in place.

namespace tapestry::core {

/// One sentence at one step, as a cell's formulas see it. (They take it by value: of what others might point to, the
/// compiler would think that each store changes it.)
template <class T>
struct CellStep {
  Index hidden;
  T* gates;        // its row
  const T *h, *c;  // the states before it [H], c of an LSTM only

  T* block(Index number) const { return gates + number * hidden; }
};

/// Where backward leaves what it finds: `dh` [H] holds the cotangent of the new state and receives that of the old,
/// without what goes through the recurrent product; `dc` likewise; `sums` gathers the derivatives for the biases.
template <class T>
struct CellCotangents {
  const T* dy;
  T *dh, *dc, *sums;

  template <class V>
  void put(const CellStep<T>& s, V v, Index i, Index block, const Batch<T>& d) const {
    T* const sum = sums + block * s.hidden + i;
    v.store(d, s.block(block) + i);
    v.store(v.load(sum) + d, sum);
  }
};

/// One block: h' = tanh(a), da = dh' (1 - h'^2).
struct RnnCell {
  static constexpr Index gates = 1, recurrent = 0, blocks = 1;

  template <class T>
  static void forward(CellStep<T> s, T* state, bool keep) {
    for_vectors<T>(s.hidden, [&](Index i, auto v) {
      const auto n = smooth_tanh<T>(v.load(s.gates + i));
      v.store(n, state + i);
      if (keep) v.store(n, s.gates + i);
    });
  }

  template <class T>
  static void backward(CellStep<T> s, CellCotangents<T> to) {
    for_vectors<T>(s.hidden, [&](Index i, auto v) {
      const auto n = v.load(s.gates + i);
      to.put(s, v, i, 0, (v.load(to.dh + i) + v.load(to.dy + i)) * (Batch<T>(1) - n * n));
      v.store(Batch<T>(0), to.dh + i);
    });
  }
};

/// Blocks:     n          r          z          m
///   before    W_in x     ......W_ir x, W_iz x + biases......  b_hn      all steps in two products
///   per step             += W_hr h   += W_hz h  += W_hn h               one product
///   then      n          r          z          m                        what backward needs
///   backward  dn         dr         dz         dm
struct GruCell {
  static constexpr Index gates = 3, recurrent = 1, blocks = 4;

  template <class T>
  static void forward(CellStep<T> s, T* state, bool keep) {
    for_vectors<T>(s.hidden, [&](Index i, auto v) {
      const auto r = core::sigmoid(v.load(s.block(1) + i)), z = core::sigmoid(v.load(s.block(2) + i));
      const auto n = smooth_tanh<T>(fma(r, v.load(s.block(3) + i), v.load(s.gates + i)));
      v.store(fma(z, v.load(s.h + i) - n, n), state + i);
      if (keep) {
        v.store(n, s.gates + i);
        v.store(r, s.block(1) + i);
        v.store(z, s.block(2) + i);
      }
    });
  }

  //   h' = (1 - z) n + z h        dn = dh' (1 - z)    dz = dh' (h - n)    dh = dh' z
  //   n = tanh(a + r m)           da = dn (1 - n^2)   dr = da m           dm = da r
  //   r, z = sigma(a)             da = dr r (1 - r)
  template <class T>
  static void backward(CellStep<T> s, CellCotangents<T> to) {
    for_vectors<T>(s.hidden, [&](Index i, auto v) {
      const Batch<T> one(1);
      const auto n = v.load(s.gates + i), r = v.load(s.block(1) + i), z = v.load(s.block(2) + i),
                 m = v.load(s.block(3) + i);
      const auto dh_next = v.load(to.dh + i) + v.load(to.dy + i);
      const auto dn = dh_next * (one - z) * (one - n * n);
      const auto dr = dn * m * r * (one - r);
      const auto dz = dh_next * (v.load(s.h + i) - n) * z * (one - z);
      to.put(s, v, i, 0, dn);
      to.put(s, v, i, 1, dr);
      to.put(s, v, i, 2, dz);
      to.put(s, v, i, 3, dn * r);
      v.store(dh_next * z, to.dh + i);
    });
  }
};

/// Blocks i, f, g, o, which both products go to, and c', which the next step reads.
struct LstmCell {
  static constexpr Index gates = 4, recurrent = 0, blocks = 5, cell = 4;

  template <class T>
  static void forward(CellStep<T> s, T* state, bool keep) {
    for_vectors<T>(s.hidden, [&](Index i, auto v) {
      const auto in = core::sigmoid(v.load(s.gates + i)), forget = core::sigmoid(v.load(s.block(1) + i));
      const auto g = smooth_tanh<T>(v.load(s.block(2) + i)), out = core::sigmoid(v.load(s.block(3) + i));
      const auto c = fma(forget, v.load(s.c + i), in * g);
      v.store(c, s.block(cell) + i);
      v.store(out * smooth_tanh<T>(c), state + i);
      if (keep) {
        v.store(in, s.gates + i);
        v.store(forget, s.block(1) + i);
        v.store(g, s.block(2) + i);
        v.store(out, s.block(3) + i);
      }
    });
  }

  //   h' = o u, u = tanh(c')      do = dh' u          dc' += dh' o (1 - u^2)
  //   c' = f c + i g              df = dc' c          di = dc' g          dg = dc' i          dc = dc' f
  //   i, f, o = sigma(a)          da = di i (1 - i)   g = tanh(a)         da = dg (1 - g^2)
  template <class T>
  static void backward(CellStep<T> s, CellCotangents<T> to) {
    for_vectors<T>(s.hidden, [&](Index i, auto v) {
      const Batch<T> one(1);
      const auto in = v.load(s.gates + i), forget = v.load(s.block(1) + i), g = v.load(s.block(2) + i),
                 out = v.load(s.block(3) + i), u = smooth_tanh<T>(v.load(s.block(cell) + i));
      const auto dh_next = v.load(to.dh + i) + v.load(to.dy + i);
      const auto dc_next = fma(dh_next * out, one - u * u, v.load(to.dc + i));
      to.put(s, v, i, 0, dc_next * g * in * (one - in));
      to.put(s, v, i, 1, dc_next * v.load(s.c + i) * forget * (one - forget));
      to.put(s, v, i, 2, dc_next * in * (one - g * g));
      to.put(s, v, i, 3, dh_next * u * out * (one - out));
      v.store(dc_next * forget, to.dc + i);
      v.store(Batch<T>(0), to.dh + i);
    });
  }
};

/// Whether the last block is a state of its own, c'.
template <class C>
inline constexpr bool carries_cell = C::blocks > C::recurrent + C::gates;

/// Calls f.operator()<C>() with the formulas of the cell.
template <class F>
decltype(auto) with_cell(Cell cell, F&& f) {
  if (cell == Cell::rnn) return f.template operator()<RnnCell>();
  if (cell == Cell::lstm) return f.template operator()<LstmCell>();
  return f.template operator()<GruCell>();
}

}  // namespace tapestry::core
