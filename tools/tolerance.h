#pragma once
// How near is near enough.

#include <string>

#include "core/ids.h"
#include "core/tensor.h"

namespace tapestry {

/// Element by element, |a - b| <= relative * max(1, |b|), or with `of_largest` relative * max(1, largest finite |b| of
/// the tensor). Equal infinities are equal, and so are two NaN.
struct Tolerance {
  double relative;
  bool of_largest;
};

/// What the oracle's README asks of f64, and of a single op in f32.
Tolerance tolerance_of(DType dtype);

/// Empty if the tensors agree; else what is wrong, in one line: dtypes or shapes that differ, or the worst element with
/// both values.
std::string difference(const std::string& name, const Tensor& given, const Tensor& expected, Tolerance tolerance);
/// The same for integers, which must be equal.
std::string difference(const std::string& name, const Ids& given, const Ids& expected);

}  // namespace tapestry
