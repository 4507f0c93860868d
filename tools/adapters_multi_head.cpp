#include "tools/adapters.h"
#include "tools/case_attention.h"

#include "autograd/shape_ops.h"

namespace tapestry {
namespace {

Var batch_first(const Var& x, bool already) {
  return already ? x : transpose(x, 0, 1);
}

// The book projects queries, keys and values of widths of their own to `num_hiddens`.
Outputs book(OracleCase& c) {
  const auto width = c.hyper<Index>("num_hiddens");
  MultiHeadAttentionOptions options;
  options.heads = c.hyper<Index>("num_heads");
  options.query_input = c.hyper("query_size", width);
  options.key_input = c.hyper("key_size", width);
  options.value_input = c.hyper("value_size", width);
  options.bias = c.hyper("bias", false);
  const bool differ = options.query_input != width || options.key_input != width || options.value_input != width;
  const MultiHeadAttention layer(c.scope(), width, options);
  c.load(book_names(differ));
  const Var q = c.in("q"), k = c.in("k");
  return attend(c, layer, "", options.heads, {q, k, c.in("v")}, book_mask(c, q.size(0), q.size(1), k.size(1))).context;
}

Outputs annotated(OracleCase& c) {
  MultiHeadAttentionOptions options;
  options.heads = c.hyper<Index>("h");
  const MultiHeadAttention layer(c.scope(), c.hyper<Index>("d_model"), options);
  c.load(annotated_names());
  const Var q = c.in("q"), k = c.in("k");
  return attend(c, layer, "", options.heads, {q, k, c.in("v")},
                annotated_mask(c, "mask", q.size(0), q.size(1), k.size(1)))
      .context;
}

// torch.nn.MultiheadAttention: of one input, or of queries and of keys and values, which may be one.
Outputs torch(OracleCase& c) {
  const auto width = c.hyper<Index>("embed_dim");
  MultiHeadAttentionOptions options;
  options.heads = c.hyper<Index>("num_heads");
  options.key_input = c.hyper("kdim", width);
  options.value_input = c.hyper("vdim", width);
  options.bias = c.hyper("bias", true);
  const MultiHeadAttention layer(c.scope(), width, options);
  c.load();
  const bool first = c.hyper("batch_first", false);
  const auto input = [&](const char* name) { return batch_first(c.in(name), first); };
  const Var q = input("q"), k = c.has("in.k") ? input("k") : q, v = c.has("in.v") ? input("v") : k;
  const AttentionOutput output =
      attend(c, layer, "", options.heads, c.has("in.k") ? AttentionInputs(q, k, v) : AttentionInputs(q),
             torch_mask(c, "attn_mask", "key_padding_mask", q.size(0), q.size(1), k.size(1)));
  return {{"y", batch_first(output.context, first)}, {"weights", output.weights}};
}

}  // namespace

std::vector<Adapter> multi_head_adapters() {
  return {{"d2l_mha", "nn: MultiHeadAttention", book},
          {"at_mha", "nn: MultiHeadAttention", annotated},
          {"mha_self*", "nn: MultiHeadAttention", torch},
          {"mha_cross*", "nn: MultiHeadAttention", torch}};
}

}  // namespace tapestry
