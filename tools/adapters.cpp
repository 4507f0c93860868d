#include "tools/adapters.h"

namespace tapestry {

const Adapter* find_adapter(const std::string& op) {
  static const std::vector<Adapter> all = [] {
    std::vector<Adapter> adapters;
    for (const auto& part : {elementwise_adapters(), graph_adapters(),     reduce_adapters(),     matmul_adapters(),
                             shape_adapters(),       indexing_adapters(),  softmax_adapters(),    norm_adapters(),
                             loss_adapters(),        attention_adapters(), multi_head_adapters(), position_adapters(),
                             transformer_adapters(), annotated_adapters(), translator_adapters(), recurrent_adapters(),
                             convolution_adapters(), model_adapters(),     optim_adapters(),      clip_adapters()})
      adapters.insert(adapters.end(), part.begin(), part.end());
    return adapters;
  }();
  const Adapter* best = nullptr;
  for (const Adapter& adapter : all) {
    if (adapter.op == op) return &adapter;
    const bool begins = adapter.op.ends_with('*') && op.starts_with(adapter.op.substr(0, adapter.op.size() - 1));
    if (begins && (best == nullptr || adapter.op.size() > best->op.size())) best = &adapter;
  }
  return best;
}

}  // namespace tapestry
