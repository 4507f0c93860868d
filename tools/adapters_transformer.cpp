#include "autograd/shape_ops.h"
#include "tools/adapters.h"
#include "tools/case_attention.h"
#include "tools/transformer_options.h"

namespace tapestry {
namespace {

// Sequences [B,L,D], whichever axis of the case is the batch.
Var sequences(OracleCase& c, const char* name) {
  return c.hyper("batch_first", false) ? c.in(name) : transpose(c.in(name), 0, 1);
}

Outputs as_given(const OracleCase& c, const Var& y) {
  return c.hyper("batch_first", false) ? y : transpose(y, 0, 1);
}

CaseMask mask_of(OracleCase& c, const std::string& of, const Var& queries, const Var& keys) {
  return torch_mask(c, of + "_mask", of + "_key_padding_mask", queries.size(0), queries.size(1), keys.size(1));
}

Outputs torch_encoder_layer(OracleCase& c) {
  const TransformerOptions options = torch_options(c);
  const EncoderLayer layer(c.scope(), options);
  c.load();
  const Var x = sequences(c, "src");
  return as_given(c, encode(c, layer, "", options.heads, x, mask_of(c, "src", x, x)));
}

Outputs torch_decoder_layer(OracleCase& c) {
  const TransformerOptions options = torch_options(c);
  const DecoderLayer layer(c.scope(), options);
  c.load();
  const Var x = sequences(c, "tgt"), memory = sequences(c, "memory");
  return as_given(
      c, decode(c, layer, "", options.heads, x, memory, mask_of(c, "tgt", x, x), mask_of(c, "memory", x, memory)));
}

// Both stacks of torch.nn.Transformer, whose norms after the last layers are always there.
Outputs torch_transformer(OracleCase& c) {
  const TransformerOptions options = torch_options(c);
  std::vector<std::pair<EncoderLayer, std::string>> encoder;
  std::vector<std::pair<DecoderLayer, std::string>> decoder;
  const auto add = [&](auto& layers, const std::string& name) {
    for (Index i = 0; i < c.hyper<Index>("num_" + name + "_layers"); ++i) {
      const std::string place = name + ".layers." + std::to_string(i);
      layers.emplace_back(std::piecewise_construct, std::forward_as_tuple(c.scope() / place, options),
                          std::forward_as_tuple(place + "."));
    }
  };
  add(encoder, "encoder");
  add(decoder, "decoder");
  const LayerNorm encoder_norm(c.scope() / "encoder.norm", options.width),
      decoder_norm(c.scope() / "decoder.norm", options.width);
  c.load();

  Var x = sequences(c, "src"), y = sequences(c, "tgt");
  const CaseMask source_mask = mask_of(c, "src", x, x), target_mask = mask_of(c, "tgt", y, y);
  CaseMask memory_mask = mask_of(c, "memory", y, x);
  // The padding of the source is that of the memory too; the notes of the cases say so.
  if (!c.has("in.memory_key_padding_mask") && c.has("in.src_key_padding_mask")) {
    const Ids padding = c.ids("src_key_padding_mask");
    memory_mask.hide(Ids({padding.values().begin(), padding.values().end()}, {x.size(0), 1, x.size(1)}), false);
  }
  for (const auto& [layer, place] : encoder) x = encode(c, layer, place, options.heads, x, source_mask);
  const Var memory = encoder_norm(x);
  for (const auto& [layer, place] : decoder)
    y = decode(c, layer, place, options.heads, y, memory, target_mask, memory_mask);
  return as_given(c, decoder_norm(y));
}

Outputs book_encoder_block(OracleCase& c) {
  const TransformerOptions options = book_options(c);
  const EncoderLayer layer(c.scope(), options);
  c.load(book_names());
  const Var x = c.in("x");
  return encode(c, layer, "", options.heads, x, book_mask(c, x.size(0), x.size(1), x.size(1)));
}

// In training; in evaluation the book's block sees what it was given before, and no mask.
Outputs book_decoder_block(OracleCase& c) {
  if (c.entry().variant.find("train") == std::string::npos)
    throw NotImplemented("d2l_decoder_block: only in training, where its attention is causal");
  const TransformerOptions options = book_options(c);
  const DecoderLayer layer(c.scope(), options);
  c.load(book_names());
  const Var x = c.in("x"), memory = c.in("enc");
  CaseMask causal(x.size(0), x.size(1), x.size(1), -1e6);
  std::vector<std::int32_t> seen;
  for (Index i = 0; i < x.size(0) * x.size(1); ++i) seen.push_back(static_cast<std::int32_t>(i % x.size(1) + 1));
  causal.hide_beyond(Ids(std::move(seen), {x.size(0), x.size(1)}));
  return decode(c, layer, "", options.heads, x, memory, causal, book_mask(c, x.size(0), x.size(1), memory.size(1)));
}

}  // namespace

std::vector<Adapter> transformer_adapters() {
  return {{"encoder_layer", "nn: EncoderLayer", torch_encoder_layer},
          {"decoder_layer", "nn: DecoderLayer", torch_decoder_layer},
          {"nn_transformer", "nn: EncoderLayer, DecoderLayer, LayerNorm", torch_transformer},
          {"d2l_encoder_block", "nn: EncoderLayer", book_encoder_block},
          {"d2l_decoder_block", "nn: DecoderLayer", book_decoder_block}};
}

}  // namespace tapestry
