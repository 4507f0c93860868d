#pragma once
// gradcheck: is backward the derivative of forward? In f64, by central differences.

#include <functional>
#include <string>
#include <vector>

#include "autograd/var.h"

namespace tapestry {

/// One argument of a function under check: its shape and the interval its values are drawn from.
struct CheckInput {
  Shape shape;
  double low = -2, high = 2;
};

/// A function to check: its name (an op's own name, then `/variant` if there are several), its differentiable
/// arguments, and the function from them to one or more outputs. It must be deterministic.
struct GradcheckCase {
  std::string name;
  std::vector<CheckInput> inputs;
  std::function<std::vector<Var>(const std::vector<Var>&)> function;
  /// Arguments whose gradient is zero by definition, by number: a test that makes each gradient wrong passes over them.
  std::vector<std::size_t> zero_gradients = {};
};

struct GradcheckOptions {
  double tolerance = 1e-6;
  std::uint64_t seed = 1;
  /// At most this many elements of each argument are checked, drawn at random; and one random direction through all
  /// arguments at once. 0: every element and no direction.
  Index elements_per_input = 0;
};

struct GradcheckReport {
  std::string name;
  Index checked = 0;  // elements and directions
  Index kinks = 0;    // elements drawn again because a kink lay within the difference
  double worst = 0;   // largest error
  bool passed = false;
  /// Where the worst error is: op, argument, index, both values, error; one line. Or why nothing could be compared.
  std::string message;
};

/// Checks the case with random, non-uniform cotangents (the gradient of sum(softmax(x)) is zero: a plain sum proves
/// nothing).
///
/// Central differences of f(x) = sum over outputs of <cotangent, output> with h = 6e-6 max(1, |x|);
/// error = |a - n| / max(|a|, |n|, 1e-3 the largest gradient of that tensor, 1e-8, 2e-15 max(1, |f|) / (h tolerance)).
/// The last term is the noise of the difference itself, for gradients that are exactly zero.
///
/// A kink shows in the forward pass alone, as one-sided differences that disagree far beyond curvature; the point is
/// drawn again and counted. Which points are left out therefore never depends on the gradient under check.
GradcheckReport gradcheck(const GradcheckCase& check, const GradcheckOptions& options = {});

/// The same for parameters: `loss` maps nothing but the present values of `leaves` to outputs.
GradcheckReport gradcheck(const std::string& name, const std::vector<Var>& leaves,
                          const std::function<std::vector<Var>()>& function, const GradcheckOptions& options = {});

/// A check with everything it needs: what lists of checks hold.
struct NamedCheck {
  std::string name;
  std::function<GradcheckReport()> run;
};

}  // namespace tapestry
