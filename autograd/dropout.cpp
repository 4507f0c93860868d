#include "autograd/dropout.h"

#include "autograd/record.h"

namespace tapestry {

namespace {

void require_sequence(const char* op, const Var& x) {
  require(x.rank() == 2 || x.rank() == 3, "{}: x must be [B,F] or [B,T,F]; given {}", op, x.shape());
}

}  // namespace

core::BitMask dropout_mask_of(const char* op, const Var& x, double p, const DropoutKey& key) {
  require_sequence(op, x);
  return core::dropout_mask(x.size(0), x.rank() == 3 ? x.size(1) : 1, x.size(-1), p, key);
}

/// y = x m / (1 - p)                    dx = dy m / (1 - p)
Var dropout(const Var& x, double p, const DropoutKey& key) {
  require_sequence("dropout", x);
  if (p == 0) return x;
  core::BitMask mask = dropout_mask_of("dropout", x, p, key);
  const double scale = core::dropout_scale(p);
  Tensor y = core::apply_mask(x.value(), mask, scale);
  return record("dropout", y, {x}, [mask = std::move(mask), scale](const Tensor& dy, Grads& dx) {
    dx.add(0, core::apply_mask(dy, mask, scale));
  });
}

}  // namespace tapestry
