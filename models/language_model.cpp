#include "models/language_model.h"

#include <algorithm>

#include "core/random.h"
#include "models/greedy.h"

namespace tapestry {
namespace {

Linear output_layer(const LanguageModelShape& shape, const Scope& scope, const Var& table) {
  if (!shape.tie) return Linear::with_zero_bias(scope, shape.transformer.width, shape.vocabulary);
  scope.tie("weight", table);
  return Linear(table, Var(), scope.reference());
}

}  // namespace

LanguageModel::LanguageModel(const LanguageModelShape& shape, const Scope& scope)
    : stack_(scope, shape.vocabulary, shape.transformer, shape.positions),
      output_(output_layer(shape, scope / "out", stack_.table())) {}

SequenceLoss language_model_loss(const LanguageModel& model, const Batch& batch, const Pass& pass) {
  return output_loss(model(batch.source.ids, pass), model.output(), batch.target.ids);
}

Example text_window(const TokenIds& text, std::size_t begin, std::size_t length) {
  const auto first = text.begin() + static_cast<std::ptrdiff_t>(begin),
             last = first + static_cast<std::ptrdiff_t>(length);
  return {{first, last}, {first + 1, last + 1}};
}

std::vector<Example> random_windows(const TokenIds& text, std::size_t length, Index count, std::uint64_t seed,
                                    Index update) {
  require(text.size() > length, "language_model: the text must be longer than a window of {} tokens; it has {}", length,
          text.size());
  constexpr std::uint64_t stream = 0x77d0;  // apart from those of parameters, masks and draws
  core::Random random(seed, stream + static_cast<std::uint64_t>(update));
  std::vector<Example> windows;
  for (Index i = 0; i < count; ++i)
    windows.push_back(
        text_window(text, static_cast<std::size_t>(random.below(static_cast<Index>(text.size() - length))), length));
  return windows;
}

std::vector<Example> all_windows(const TokenIds& text, std::size_t length) {
  std::vector<Example> windows;
  for (std::size_t begin = 0; begin + 1 < text.size(); begin += length)
    windows.push_back(text_window(text, begin, std::min(length, text.size() - 1 - begin)));
  return windows;
}

TokenIds continue_text(const LanguageModel& model, const TokenIds& prompt, Index count, Index context,
                       const Sampling& sampling) {
  require(!prompt.empty(), "language_model: a text to go on with must have a token; given none");
  require(context >= 1, "language_model: a context must have a token; given {}", context);
  const NoRecord inference;
  const auto half = static_cast<std::ptrdiff_t>(std::max<Index>(context / 2, 1));
  TokenIds said = prompt;
  EncoderStack::State state;
  auto unread = static_cast<std::ptrdiff_t>(prompt.size());
  if (unread > context) unread = half;
  Var features;
  for (Index place = 0; place < count; ++place) {
    if (state.position + unread > context) {
      state = {};
      unread = half;
    }
    for (; unread > 0; --unread) features = model.step(Ids(TokenIds{*(said.end() - unread)}), state);  // [1,D]
    said.push_back(draw(model.output()(features).value(), 0, sampling, 0, place));
    unread = 1;
  }
  return {said.begin() + static_cast<std::ptrdiff_t>(prompt.size()), said.end()};
}

}  // namespace tapestry
