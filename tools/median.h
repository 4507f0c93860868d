#pragma once
// The measure that a disturbed repetition does not move.

#include <algorithm>
#include <vector>

namespace tapestry {

/// The middle one of the values, of an even number the upper of the two. There must be one.
inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace tapestry
