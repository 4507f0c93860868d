#include "models/beam_search.h"

#include <algorithm>
#include <tuple>

#include "models/batch.h"

namespace tapestry {
namespace {

constexpr std::int32_t root = -1;

// A token said after others: a tree of them holds every beginning. `row` of the step's rows said it.
struct Node {
  std::int32_t parent, token;
  Index row;
};

// The beginning that ends in this node, or root.
struct Hypothesis {
  std::int32_t node;
  double log_probability;
};

struct Ended {
  Hypothesis hypothesis;
  Index length;
  double score;
};

// A way to continue: a row and a token.
struct Candidate {
  double log_probability;
  Index row;
  std::int32_t token;
  // Ties go to the earlier row and the smaller id, as in greedy decoding.
  friend bool operator>(const Candidate& a, const Candidate& b) {
    return std::tuple(-a.log_probability, a.row, a.token) < std::tuple(-b.log_probability, b.row, b.token);
  }
};

// The `most` best candidates offered: a heap with the worst of them on top.
class Candidates {
 public:
  explicit Candidates(Index most) : most_(static_cast<std::size_t>(most)) {}

  // All tokens after a beginning of this log-probability; `row` of logits [R,V] is what it was continued with.
  void offer(const Tensor& logits, Index row, double log_probability) {
    const double offset = log_probability - log_normaliser(logits, row);
    dispatch(logits.dtype(), [&]<class T> {
      const Index n = logits.size(1);
      const T* const x = logits.data<T>() + row * n;
      for (Index v = 0; v < n; ++v) {
        const double sum = offset + static_cast<double>(x[v]);
        if (kept_.size() == most_ && !(sum > kept_.front().log_probability)) continue;
        kept_.push_back({sum, row, static_cast<std::int32_t>(v)});
        std::push_heap(kept_.begin(), kept_.end(), std::greater<>());
        if (kept_.size() <= most_) continue;
        std::pop_heap(kept_.begin(), kept_.end(), std::greater<>());
        kept_.pop_back();
      }
    });
  }
  // Best first.
  std::vector<Candidate> take() {
    std::sort_heap(kept_.begin(), kept_.end(), std::greater<>());
    return std::move(kept_);
  }

 private:
  std::size_t most_;
  std::vector<Candidate> kept_;
};

// The sentences of a batch on their way.
class Search {
 public:
  Search(const EncoderDecoder& model, const std::vector<TokenIds>& sources, const std::vector<std::size_t>& numbers,
         const core::PackedLinear& output, const DecodingOptions& options)
      : model_(model), output_(output), options_(options) {
    std::vector<TokenIds> rows;
    for (const std::size_t number : numbers) {
      rows.push_back(sources[number]);
      const Index limit = std::min(step_limit(rows.back(), options), model.most_steps());
      sentences_.push_back({number, static_cast<Index>(rows.back().size()), limit, {{root, 0}}, {}});
    }
    const PaddedIds source = pad(rows);
    state_ = model.encode(source.ids, source.lengths, Pass{});
    state_.attention = options.attention;
  }

  void run(std::vector<std::vector<Translation>>& lists) {
    std::vector<std::int32_t> previous(sentences_.size(), Vocabulary::bos);
    while (!sentences_.empty()) {
      const EncoderDecoder::Step step = model_.step(Ids(std::move(previous)), state_, Pass{});
      ++length_;
      if (options_.attention && step.attention) weights_.push_back(step.attention.value());
      const Tensor logits = output_(step.features.value());
      for (std::size_t b = 0; b < sentences_.size(); ++b) {
        if (sentences_[b].live.empty()) continue;
        advance(sentences_[b], logits, static_cast<Index>(b) * state_.beam);
        if (sentences_[b].live.empty()) lists[sentences_[b].number] = translations(sentences_[b]);
      }
      previous = reorder();
    }
  }

 private:
  struct Sentence {
    std::size_t number;
    Index source, limit;
    std::vector<Hypothesis> live;  // best first; none once it is done
    std::vector<Ended> ended;      // best first, at most options.best
  };

  // Continues the live hypotheses, which are the rows from `first` on.
  void advance(Sentence& sentence, const Tensor& logits, Index first) {
    Candidates candidates(options_.beam);
    for (std::size_t k = 0; k < sentence.live.size(); ++k)
      candidates.offer(logits, first + static_cast<Index>(k), sentence.live[k].log_probability);
    const std::vector<Hypothesis> before = std::move(sentence.live);
    sentence.live.clear();
    for (const Candidate& candidate : candidates.take()) {
      const Hypothesis& parent = before[static_cast<std::size_t>(candidate.row - first)];
      nodes_.push_back({parent.node, candidate.token, candidate.row});
      const Hypothesis next{static_cast<std::int32_t>(nodes_.size()) - 1, candidate.log_probability};
      if (candidate.token == Vocabulary::eos)
        put_aside(sentence, next);
      else
        sentence.live.push_back(next);
    }
    if (length_ == sentence.limit && sentence.ended.empty())
      for (const Hypothesis& cut : sentence.live) put_aside(sentence, cut);
    if (length_ == sentence.limit || decided(sentence)) sentence.live.clear();
  }

  void put_aside(Sentence& sentence, const Hypothesis& hypothesis) const {
    const double score = normalised(hypothesis.log_probability, length_, options_.length_penalty);
    const auto place = std::find_if(sentence.ended.begin(), sentence.ended.end(),
                                    [&](const Ended& other) { return other.score < score; });
    sentence.ended.insert(place, {hypothesis, length_, score});
    if (static_cast<Index>(sentence.ended.size()) > options_.best) sentence.ended.pop_back();
  }

  // Whether no live hypothesis can come among the best any more.
  bool decided(const Sentence& sentence) const {
    if (sentence.live.empty()) return true;
    if (static_cast<Index>(sentence.ended.size()) < options_.best) return false;
    const double reachable = normalised(sentence.live.front().log_probability, sentence.limit, options_.length_penalty);
    return reachable <= sentence.ended.back().score;
  }

  // Brings the rows of the state to the live hypotheses; returns their last tokens. A sentence with fewer than the
  // others has its rows filled up with some that nobody looks at. Sentences that are done leave when they are a
  // quarter.
  std::vector<std::int32_t> reorder() {
    const auto live =
        std::count_if(sentences_.begin(), sentences_.end(), [](const Sentence& s) { return !s.live.empty(); });
    const bool drop = live == 0 || 4 * (std::ssize(sentences_) - live) >= std::ssize(sentences_);
    std::size_t beam = 1;
    for (const Sentence& sentence : sentences_) beam = std::max(beam, sentence.live.size());
    TokenIds parents, previous, kept;
    std::vector<Sentence> staying;
    for (std::size_t b = 0; b < sentences_.size(); ++b) {
      Sentence& sentence = sentences_[b];
      if (drop && sentence.live.empty()) continue;
      for (std::size_t k = 0; k < beam; ++k) {
        const bool real = k < sentence.live.size();
        const Node filling{root, Vocabulary::eos, static_cast<Index>(b) * state_.beam};
        const Node& node = real ? nodes_[static_cast<std::size_t>(sentence.live[k].node)] : filling;
        parents.push_back(static_cast<std::int32_t>(node.row));
        previous.push_back(node.token);
      }
      kept.push_back(static_cast<std::int32_t>(b));
      staying.push_back(std::move(sentence));
    }
    if (!staying.empty()) model_.select(state_, Ids(std::move(parents)), drop ? Ids(std::move(kept)) : Ids());
    sentences_ = std::move(staying);
    return previous;
  }

  std::vector<Translation> translations(const Sentence& sentence) const {
    std::vector<Translation> list;
    for (const Ended& ended : sentence.ended) {
      Translation translation;
      translation.log_probability = ended.hypothesis.log_probability;
      translation.score = ended.score;
      if (!weights_.empty())
        translation.attention = Tensor::empty({ended.length, sentence.source}, weights_[0].dtype());
      Index t = ended.length;
      for (std::int32_t at = ended.hypothesis.node; at != root;) {
        const Node& node = nodes_[static_cast<std::size_t>(at)];
        translation.ids.push_back(node.token);
        --t;
        if (translation.attention)
          copy_weights(weights_[static_cast<std::size_t>(t)], node.row, translation.attention, t);
        at = node.parent;
      }
      std::reverse(translation.ids.begin(), translation.ids.end());
      translation.ended = translation.ids.back() == Vocabulary::eos;
      if (translation.ended) translation.ids.pop_back();
      list.push_back(std::move(translation));
    }
    return list;
  }

  const EncoderDecoder& model_;
  const core::PackedLinear& output_;
  const DecodingOptions& options_;
  std::vector<Sentence> sentences_;
  DecoderState state_;
  Index length_ = 0;  // tokens said so far
  std::vector<Node> nodes_;
  std::vector<Tensor> weights_;  // of each step, [R,S]
};

}  // namespace

std::vector<std::vector<Translation>> beam_search(const EncoderDecoder& model, const std::vector<TokenIds>& sources,
                                                  core::Workers& workers, const DecodingOptions& options) {
  validate(options);
  std::vector<std::vector<Translation>> lists(sources.size(), std::vector<Translation>(1));  // an empty one for nothing
  const core::PackedLinear output = packed_output(model);
  for_source_batches(sources, options.batch / options.beam, workers, [&](const std::vector<std::size_t>& numbers) {
    Search(model, sources, numbers, output, options).run(lists);
  });
  return lists;
}

}  // namespace tapestry
