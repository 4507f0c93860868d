#pragma once
// Adapters: how this library computes what a case of the oracle means.

#include <functional>
#include <string>
#include <vector>

#include "tools/oracle_case.h"

namespace tapestry {

struct Adapter {
  std::string op;      // the op it is for, or, ending with '*', how such ops begin
  std::string called;  // the public functions and classes that do the work
  std::function<Outputs(OracleCase&)> compute;
};

/// The adapter of an op: the one of its very name, else the longest beginning. None: nullptr.
const Adapter* find_adapter(const std::string& op);

// The adapters, file by file.
std::vector<Adapter> elementwise_adapters();
std::vector<Adapter> graph_adapters();
std::vector<Adapter> reduce_adapters();
std::vector<Adapter> matmul_adapters();
std::vector<Adapter> shape_adapters();
std::vector<Adapter> indexing_adapters();
std::vector<Adapter> softmax_adapters();
std::vector<Adapter> norm_adapters();
std::vector<Adapter> loss_adapters();
std::vector<Adapter> attention_adapters();
std::vector<Adapter> multi_head_adapters();
std::vector<Adapter> position_adapters();
std::vector<Adapter> transformer_adapters();
std::vector<Adapter> annotated_adapters();
std::vector<Adapter> translator_adapters();
std::vector<Adapter> recurrent_adapters();
std::vector<Adapter> convolution_adapters();
std::vector<Adapter> model_adapters();
std::vector<Adapter> optim_adapters();
std::vector<Adapter> clip_adapters();

}  // namespace tapestry
