#include "models/not_finite.h"

#include <algorithm>
#include <cmath>

namespace tapestry {

bool is_finite(const Tensor& tensor) {
  return dispatch(tensor.dtype(), [&]<class T> {
    const T* const x = tensor.data<T>();
    for (Index i = 0, n = tensor.numel(); i < n; ++i)
      if (!std::isfinite(x[i])) return false;
    return true;
  });
}

const Var* first_not_finite(const std::vector<Var>& parameters) {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [](const Var& parameter) { return !is_finite(parameter.value()); });
  return found == parameters.end() ? nullptr : &*found;
}

void FirstNotFinite::look(Index number, const char* op, std::span<const Tensor> tensors, const char* direction) {
  if (!found_.empty()) return;
  for (const Tensor& tensor : tensors)
    if (tensor && !is_finite(tensor)) {
      found_ = fmt::format("{} (entry {}, {})", op, number, direction);
      return;
    }
}

void FirstNotFinite::recorded(Index number, const char* op, std::span<const Tensor> outputs) {
  look(number, op, outputs, "forward");
}

void FirstNotFinite::walked(Index number, const char* op, std::span<const Tensor> contributions) {
  look(number, op, contributions, "backward");
}

}  // namespace tapestry
