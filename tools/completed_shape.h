#pragma once
// Shapes in which one size is to be inferred.

#include <vector>

#include "core/error.h"
#include "core/shape.h"

namespace tapestry {

/// The sizes, a -1 among them replaced so that there are `numel` elements. Errors: nothing would do.
inline Shape completed_shape(std::vector<Index> sizes, Index numel) {
  Index known = 1;
  for (Index size : sizes) known *= size < 0 ? 1 : size;
  for (Index& size : sizes) {
    if (size >= 0) continue;
    require(known > 0, "shape: a size of -1 needs others above 0");
    size = numel / known;
  }
  return Shape(sizes);
}

}  // namespace tapestry
