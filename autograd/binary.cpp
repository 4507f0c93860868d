#include <cmath>

#include "autograd/elementwise.h"
#include "autograd/record.h"
#include "core/condition.h"
#include "core/elementwise.h"

namespace tapestry {
namespace {

// What the gradient by `other` needs of this operand: nothing, if nobody wants that gradient.
Tensor saved_for(const Var& other, const Var& operand) {
  return recording({other}) ? operand.value() : Tensor();
}

}  // namespace

/// y = a + b                             da = dy, db = dy
Var add(const Var& a, const Var& b) {
  Tensor y = core::map(
      "add", [](auto u, auto v) { return u + v; }, a.value(), b.value());
  return record("add", y, {a, b}, [](const Tensor& dy, Grads& dx) {
    dx.add_broadcast(0, dy);
    dx.add_broadcast(1, dy);
  });
}

/// y = a - b                             da = dy, db = -dy
Var sub(const Var& a, const Var& b) {
  Tensor y = core::map(
      "sub", [](auto u, auto v) { return u - v; }, a.value(), b.value());
  return record("sub", y, {a, b}, [](const Tensor& dy, Grads& dx) {
    dx.add_broadcast(0, dy);
    if (dx.wants(1)) dx.add_broadcast(1, core::map([](auto g) { return -g; }, dy));
  });
}

/// y = a b                               da = dy b, db = dy a
Var mul(const Var& a, const Var& b) {
  const auto product = [](auto u, auto v) { return u * v; };
  Tensor y = core::map("mul", product, a.value(), b.value());
  return record("mul", y, {a, b}, [a = saved_for(b, a), b = saved_for(a, b), product](const Tensor& dy, Grads& dx) {
    if (dx.wants(0)) dx.add_broadcast(0, core::map("mul", product, dy, b));
    if (dx.wants(1)) dx.add_broadcast(1, core::map("mul", product, dy, a));
  });
}

/// y = a / b                             da = dy / b, db = -dy y / b
Var div(const Var& a, const Var& b) {
  const auto quotient = [](auto u, auto v) { return u / v; };
  Tensor y = core::map("div", quotient, a.value(), b.value());
  return record("div", y, {a, b},
                [y = recording({b}) ? y : Tensor(), b = b.value(), quotient](const Tensor& dy, Grads& dx) {
                  if (dx.wants(0)) dx.add_broadcast(0, core::map("div", quotient, dy, b));
                  if (dx.wants(1))
                    dx.add_broadcast(1, core::map(
                                            "div", [](auto g, auto q, auto v) { return -g * q / v; }, dy, y, b));
                });
}

/// y = a^b                               da = dy b a^(b-1), db = dy y log a
Var pow(const Var& a, const Var& b) {
  const auto power = [](auto u, auto v) {
    return core::each_lane([](auto x, auto e) { return std::pow(x, e); }, u, v);
  };
  Tensor y = core::map("pow", power, a.value(), b.value());
  return record("pow", y, {a, b}, [a = a.value(), b = b.value(), y, power](const Tensor& dy, Grads& dx) {
    if (dx.wants(0)) {
      // b = 0 is asked first: 0 times infinity would not be 0.
      const auto slope = [power](auto g, auto u, auto v) {
        return select(v == 0, decltype(g)(0), g * v * power(u, v - 1));
      };
      dx.add_broadcast(0, core::map("pow", slope, dy, a, b));
    }
    if (dx.wants(1)) {
      const auto slope = [](auto g, auto u, auto v) { return select(u == 0, decltype(g)(0), g * v * log(u)); };
      dx.add_broadcast(1, core::map("pow", slope, dy, a, y));
    }
  });
}

/// y = x^e                               dx = dy e x^(e-1)
Var pow(const Var& x, double exponent) {
  const auto power = [](auto u, double e) {
    using T = typename decltype(u)::value_type;
    return core::each_lane([e](T value) { return std::pow(value, static_cast<T>(e)); }, u);
  };
  Tensor y = core::map([=](auto u) { return power(u, exponent); }, x.value());
  return record("pow", y, {x}, [x = x.value(), exponent, power](const Tensor& dy, Grads& dx) {
    if (exponent == 0) return dx.add(0, Tensor::zeros(x.shape(), x.dtype()));
    dx.add(0, core::map(
                  "pow", [=](auto g, auto u) { return g * exponent * power(u, exponent - 1); }, dy, x));
  });
}

/// y = x + c                             dx = dy
Var shift(const Var& x, double c) {
  Tensor y = core::map([c](auto u) { return u + c; }, x.value());
  return record("shift", y, {x}, [](const Tensor& dy, Grads& dx) { dx.add(0, dy); });
}

/// y = c x                               dx = c dy
Var scale(const Var& x, double c) {
  Tensor y = core::map([c](auto u) { return u * c; }, x.value());
  return record("scale", y, {x},
                [c](const Tensor& dy, Grads& dx) { dx.add(0, core::map([c](auto g) { return g * c; }, dy)); });
}

namespace {

/// y = a where it wins over b, else b    da = dy where a wins, dy/2 at a tie; db likewise
template <class Wins, class Choose>
Var extreme_of(const char* op, const Var& a, const Var& b, Wins wins, Choose choose) {
  Tensor y = core::map(op, choose, a.value(), b.value());
  return record(op, y, {a, b}, [op, wins, a = a.value(), b = b.value()](const Tensor& dy, Grads& dx) {
    const auto share = [wins](auto g, auto own, auto other) {
      return select(wins(own, other), g, select(own == other, 0.5 * g, decltype(g)(0)));
    };
    if (dx.wants(0)) dx.add_broadcast(0, core::map(op, share, dy, a, b));
    if (dx.wants(1)) dx.add_broadcast(1, core::map(op, share, dy, b, a));
  });
}

}  // namespace

Var maximum(const Var& a, const Var& b) {
  return extreme_of(
      "maximum", a, b, [](auto u, auto v) { return u > v; }, [](auto u, auto v) { return core::larger(u, v); });
}

Var minimum(const Var& a, const Var& b) {
  return extreme_of(
      "minimum", a, b, [](auto u, auto v) { return u < v; }, [](auto u, auto v) { return core::smaller(u, v); });
}

/// y = min(max(x, low), high)            dx = dy where low <= x <= high, else 0
Var clamp(const Var& x, double low, double high) {
  require(low <= high, "clamp: the lower bound must not exceed the upper; given {} and {}", low, high);
  Tensor y = core::map(
      [=](auto u) {
        using B = decltype(u);
        return core::smaller(core::larger(u, B(low)), B(high));
      },
      x.value());
  return record("clamp", y, {x}, [x = x.value(), low, high](const Tensor& dy, Grads& dx) {
    const auto slope = [=](auto g, auto u) {
      using B = decltype(u);
      return select(u >= B(low) && u <= B(high), g, B(0));
    };
    dx.add(0, core::map("clamp", slope, dy, x));
  });
}

/// y = c ? a : b                         da = c ? dy : 0, db = c ? 0 : dy
Var where(const Ids& condition, const Var& a, const Var& b) {
  const Tensor c = core::as_tensor(condition, a.dtype());
  Tensor y = core::map(
      "where", [](auto k, auto u, auto v) { return select(k != 0, u, v); }, c, a.value(), b.value());
  return record("where", y, {a, b}, [c](const Tensor& dy, Grads& dx) {
    if (dx.wants(0))
      dx.add_broadcast(0, core::map(
                              "where", [](auto k, auto g) { return select(k != 0, g, decltype(g)(0)); }, c, dy));
    if (dx.wants(1))
      dx.add_broadcast(1, core::map(
                              "where", [](auto k, auto g) { return select(k != 0, decltype(g)(0), g); }, c, dy));
  });
}

/// y = m ? value : x                     dx = m ? 0 : dy
Var masked_fill(const Var& x, const Ids& mask, double value) {
  require(broadcast("masked_fill", x.shape(), mask.shape()) == x.shape(),
          "masked_fill: the mask must broadcast to {}; given {}", x.shape(), mask.shape());
  const Tensor m = core::as_tensor(mask, x.dtype());
  const auto fill = [](double filler) {
    return [filler](auto k, auto u) { return select(k != 0, decltype(u)(filler), u); };
  };
  Tensor y = core::map("masked_fill", fill(value), m, x.value());
  return record("masked_fill", y, {x},
                [m, fill](const Tensor& dy, Grads& dx) { dx.add(0, core::map("masked_fill", fill(0), m, dy)); });
}

}  // namespace tapestry
