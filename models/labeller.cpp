#include "models/labeller.h"

#include <algorithm>

#include "autograd/matmul.h"
#include "autograd/shape_ops.h"
#include "models/greedy.h"

namespace tapestry {

const std::vector<std::string>& labeller_encoders() {
  static const std::vector<std::string> names{"gru", "transformer"};
  return names;
}

Labeller::Labeller(const LabellerShape& shape, const Scope& scope)
    : each_(shape.each),
      output_(Linear::with_zero_bias(scope / "out", shape.encoder == "gru" ? 2 * shape.hidden : shape.transformer.width,
                                     shape.labels)) {
  require_one_of("--encoder", shape.encoder, labeller_encoders());
  if (shape.encoder == "gru") {
    embedding_.emplace(scope / "embed", shape.vocabulary, shape.embed);
    rnn_.emplace(scope / "rnn", shape.embed, shape.hidden, RecurrentOptions{"gru", shape.layers, true, shape.dropout});
  } else {
    stack_.emplace(scope, shape.vocabulary, shape.transformer, shape.positions);
  }
}

// The mean over the real tokens: x [B,L,D] -> [B,1,D].
Var Labeller::whole(const Var& x, const Ids& lengths) const {
  const Index batch = x.size(0), steps = x.size(1);
  const Tensor shares = Tensor::zeros({batch, 1, steps}, x.dtype());
  for (Index b = 0; b < batch; ++b)
    for (Index t = 0; t < lengths[b]; ++t) shares.set(b * steps + t, 1.0 / lengths[b]);
  return matmul(Var(shares), x);
}

Var Labeller::operator()(const PaddedIds& tokens, const Pass& pass) const {
  if (stack_) {
    const Var x = (*stack_)(tokens.ids, Mask::lengths(tokens.lengths), pass);  // [B,L,D]
    return each_ ? x : whole(x, tokens.lengths);
  }
  const Recurrent::Output read = (*rnn_)((*embedding_)(tokens.ids), {}, tokens.lengths, pass);
  if (each_) return read.sequence;  // [B,L,2H]
  const std::size_t last = read.final.size() - 1;
  const Var states = concat({read.final[last - 1].h, read.final[last].h}, 1);  // [B,2H]
  return reshape(states, {states.size(0), 1, states.size(1)});
}

SequenceLoss labelling_loss(const Labeller& model, const Batch& batch, const Pass& pass) {
  return output_loss(model(batch.source, pass), model.output(), batch.target.ids);
}

std::vector<TokenIds> label(const Labeller& model, const std::vector<Example>& examples, core::Workers& workers) {
  std::vector<TokenIds> sources, said(examples.size());
  for (const Example& example : examples) sources.push_back(example.source);
  constexpr Index batch = 64;
  for_source_batches(sources, batch, workers, [&](const std::vector<std::size_t>& numbers) {
    std::vector<TokenIds> rows;
    for (const std::size_t number : numbers) rows.push_back(sources[number]);
    const Tensor logits = model.output()(model(pad(rows), Pass{})).value();  // [B,L,labels]
    const Index steps = logits.size(1);
    const Tensor flat = logits.reshape({logits.size(0) * steps, logits.size(2)});
    for (std::size_t b = 0; b < numbers.size(); ++b)
      for (Index t = 0; t < std::min(steps, static_cast<Index>(rows[b].size())); ++t)
        said[numbers[b]].push_back(most_probable(flat, static_cast<Index>(b) * steps + t));
  });
  return said;
}

LabelScore score_labels(const std::vector<TokenIds>& said, const std::vector<Example>& examples) {
  require(!examples.empty() && said.size() == examples.size(),
          "labels: there must be some, of as many sequences as have answers; given {} and {}", said.size(),
          examples.size());
  std::size_t labels = 0, right = 0, whole = 0;
  for (std::size_t i = 0; i < said.size(); ++i) {
    const TokenIds& answer = examples[i].target;
    require(said[i].size() == answer.size(), "labels: sequence {} must have {}; given {}", i, answer.size(),
            said[i].size());
    for (std::size_t t = 0; t < answer.size(); ++t) right += said[i][t] == answer[t] ? 1 : 0;
    labels += answer.size();
    whole += said[i] == answer ? 1 : 0;
  }
  return {static_cast<double>(right) / static_cast<double>(labels),
          static_cast<double>(whole) / static_cast<double>(said.size())};
}

}  // namespace tapestry
