#pragma once
// Measuring in a process of its own.

#include <functional>
#include <vector>

namespace tapestry {

/// Runs `work` in a child of this process and returns what it returned, so that its memory is its own and its peak
/// means something. Call it before this process has threads. Errors: the child failed (with its message).
std::vector<double> apart(const std::function<std::vector<double>()>& work);

}  // namespace tapestry
