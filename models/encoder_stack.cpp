#include "models/encoder_stack.h"

#include <cmath>
#include <numeric>

#include "autograd/elementwise.h"

namespace tapestry {

EncoderStack::EncoderStack(const Scope& scope, Index vocabulary, const TransformerOptions& options,
                           const PositionOptions& positions)
    : scale_(std::sqrt(static_cast<double>(options.width))),
      embedding_(scope / "embed", vocabulary, options.width, 1 / scale_),
      positions_(scope / "embed" / "positions", options.width, positions),
      dropout_(scope / "embed", options.dropout),
      layers_(stack_of<EncoderLayer>(scope, options)) {
  if (options.final_norm) norm_.emplace(scope / "norm", options.width);
}

Var EncoderStack::operator()(const Ids& tokens, const Mask& mask, const Pass& pass) const {
  Var x = dropout_(positions_(embedding_(tokens) * scale_, 0), pass);  // [B,L,D]
  for (const EncoderLayer& layer : layers_) x = layer(x, mask, pass);
  return norm_ ? (*norm_)(x) : x;
}

Var EncoderStack::step(const Ids& tokens, State& state) const {
  const NoRecord inference;
  state.caches.resize(layers_.size());
  std::vector<std::int32_t> rows(static_cast<std::size_t>(tokens.numel()));
  std::iota(rows.begin(), rows.end(), 0);
  state.lineage.push_back(std::move(rows));
  Var x = positions_(embedding_(tokens) * scale_, state.position++);  // [R,D]
  for (std::size_t i = 0; i < layers_.size(); ++i) x = layers_[i].step(x, state.caches[i], state.lineage);
  return norm_ ? (*norm_)(x) : x;
}

}  // namespace tapestry
