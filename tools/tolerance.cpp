#include "tools/tolerance.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tapestry {
namespace {

// Index i of the row-major order as a place: "[1, 2]", and "" in a scalar.
std::string place_text(const Shape& shape, Index i) {
  std::string text;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    text = fmt::format("{}{}{}", i % shape[axis], text.empty() ? "" : ", ", text);
    i /= shape[axis];
  }
  return text.empty() ? text : "[" + text + "]";
}

// How often the error exceeds what is allowed; above 1 is too much. Infinite where one of the values is not a number or
// infinite and the other something else.
double excess(double given, double expected, double allowed) {
  if (std::isnan(expected) && std::isnan(given)) return 0;
  if (given == expected) return 0;
  const double error = std::abs(given - expected);
  return std::isfinite(error) ? error / allowed : std::numeric_limits<double>::infinity();
}

}  // namespace

Tolerance tolerance_of(DType dtype) {
  return dtype == DType::f64 ? Tolerance{1e-9, false} : Tolerance{1e-5, true};
}

std::string difference(const std::string& name, const Tensor& given, const Tensor& expected, Tolerance tolerance) {
  if (!given) return fmt::format("{}: a value is expected; there is none", name);
  if (given.dtype() != expected.dtype())
    return fmt::format("{}: {} is expected; given {}", name, tapestry::name(expected.dtype()),
                       tapestry::name(given.dtype()));
  if (given.shape() != expected.shape())
    return fmt::format("{}: shape {} is expected; given {}", name, expected.shape().text(), given.shape().text());

  const std::vector<double> a = given.values(), b = expected.values();
  double largest = 1;
  for (double value : b)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  double worst = 0;
  std::size_t where = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double scale = tolerance.of_largest ? largest : std::isfinite(b[i]) ? std::max(1.0, std::abs(b[i])) : 1;
    const double now = excess(a[i], b[i], tolerance.relative * scale);
    if (now > worst) {
      worst = now;
      where = i;
    }
  }
  if (worst <= 1) return "";
  return fmt::format("{}{}: {:.12g} is expected; given {:.12g}, {:.3g} times the tolerance away", name,
                     place_text(expected.shape(), static_cast<Index>(where)), b[where], a[where], worst);
}

std::string difference(const std::string& name, const Ids& given, const Ids& expected) {
  if (!given) return fmt::format("{}: integers are expected; there are none", name);
  if (given.shape() != expected.shape())
    return fmt::format("{}: shape {} is expected; given {}", name, expected.shape().text(), given.shape().text());
  for (Index i = 0; i < expected.numel(); ++i)
    if (given[i] != expected[i])
      return fmt::format("{}{}: {} is expected; given {}", name, place_text(expected.shape(), i), expected[i],
                         given[i]);
  return "";
}

}  // namespace tapestry
