#include "tools/transformer_options.h"

namespace tapestry {
namespace {

TransformerOptions sizes(Index width, Index feed_forward, Index heads, Index layers) {
  TransformerOptions options;
  options.width = width;
  options.feed_forward = feed_forward;
  options.heads = heads;
  options.layers = layers;
  options.dropout = 0;
  return options;
}

}  // namespace

TransformerOptions book_options(const OracleCase& c) {
  TransformerOptions options = sizes(c.hyper<Index>("num_hiddens"), c.hyper<Index>("ffn_num_hiddens"),
                                     c.hyper<Index>("num_heads"), c.hyper<Index>("num_layers", 1));
  if (c.hyper("norm_shape", std::vector<Index>{options.width}).size() != 1)
    throw NotImplemented("transformer: norms over more than the last axis");
  options.attention_bias = c.hyper("use_bias", false);
  return options;
}

TransformerOptions torch_options(const OracleCase& c) {
  TransformerOptions options = sizes(c.hyper<Index>("d_model"), c.hyper<Index>("dim_feedforward"),
                                     c.hyper<Index>("nhead"), c.hyper<Index>("num_layers", 1));
  const auto activation = c.hyper("activation", std::string("relu"));
  if (activation != "relu" && activation != "gelu") throw NotImplemented("transformer: activation " + activation);
  if (c.hyper("layer_norm_eps", 1e-5) != 1e-5) throw NotImplemented("transformer: another epsilon of its norms");
  options.gelu = activation == "gelu";
  options.pre_norm = c.hyper("norm_first", false);
  options.final_norm = true;
  return options;
}

TransformerOptions annotated_options(const OracleCase& c) {
  return sizes(c.hyper<Index>("d_model"), c.hyper<Index>("d_ff"), c.hyper<Index>("h"), c.hyper<Index>("N", 1));
}

}  // namespace tapestry
