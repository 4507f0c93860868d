#include "tools/book_attention.h"

#include "autograd/ops.h"

namespace tapestry {
namespace {

// 1 for each query that may see no key: [B,1,1] or [B,Q,1].
Ids empty_rows(const Ids& lengths) {
  std::vector<std::int32_t> empty;
  for (auto length : lengths.values()) empty.push_back(length <= 0 ? 1 : 0);
  return Ids(std::move(empty), {lengths.size(0), lengths.shape().rank() == 2 ? lengths.size(1) : 1, 1});
}

}  // namespace

Var book_weights(const Var& weights, const Ids& lengths) {
  if (!lengths) return weights;
  const Var even(Tensor::scalar(1 / static_cast<double>(weights.size(-1)), weights.dtype()));
  return where(empty_rows(lengths), even, weights);
}

Var book_context(const Var& context, const Var& values, const Ids& lengths) {
  if (!lengths) return context;
  return where(empty_rows(lengths), mean(values, {1}, true), context);
}

}  // namespace tapestry
