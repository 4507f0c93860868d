#pragma once
// Where a computation leaves the finite numbers.

#include <string>
#include <vector>

#include "autograd/observer.h"
#include "autograd/var.h"

namespace tapestry {

bool is_finite(const Tensor& tensor);
/// The first of them that holds a NaN or an infinity, or none.
const Var* first_not_finite(const std::vector<Var>& parameters);

/// Watches tapes for the first op whose result, or whose gradient by an input, holds a NaN or an infinity.
class FirstNotFinite : public Observer {
 public:
  /// "tanh (entry 12, forward)"; empty while all is finite.
  const std::string& found() const { return found_; }

  void recorded(Index number, const char* op, std::span<const Tensor> outputs) override;
  void walked(Index number, const char* op, std::span<const Tensor> contributions) override;

 private:
  void look(Index number, const char* op, std::span<const Tensor> tensors, const char* direction);
  std::string found_;
};

}  // namespace tapestry
