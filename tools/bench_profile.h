#pragma once
// Where the time of a training step goes.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/dtype.h"

namespace tapestry {

/// What an op costs in one step, all its calls together.
struct OpCost {
  std::string op, pass;  // forward or backward; without a pass: what follows the walk, sums of shards and optimiser
  double calls = 0;
  double seconds = 0;     // since whatever was recorded or walked before: what lies between two ops is the later one's
  double kernels = 0;     // of these, in kernels
  double products = 0;    // of these, in matrix products
  double operations = 0;  // of these products
  double bytes = 0;       // of the buffers that were taken
};

/// The costs of a training step on one thread, the dearest first: means of as many steps as fit into a second.
std::vector<OpCost> profile_step(const std::string& name, Index shards, bool low_memory);

nlohmann::json to_json(const OpCost& cost);
/// A row an op, and the shares of products, other kernels and the rest.
std::string format_profile(const std::vector<OpCost>& costs);

}  // namespace tapestry
