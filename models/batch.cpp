#include "models/batch.h"

#include <algorithm>

#include "core/random.h"

namespace tapestry {

std::vector<std::int32_t> with_eos(const Tokens& tokens, const Vocabulary& vocabulary, Index length) {
  std::vector<std::int32_t> ids = vocabulary.ids(tokens);
  if (length > 0 && static_cast<Index>(ids.size()) > length - 1) ids.resize(static_cast<std::size_t>(length - 1));
  ids.push_back(Vocabulary::eos);
  return ids;
}

std::vector<Example> examples(const Corpus& corpus, const Vocabulary& source, const Vocabulary& target, Index length) {
  std::vector<Example> result;
  result.reserve(corpus.size());
  for (const auto& pair : corpus.pairs)
    result.push_back({with_eos(pair.source, source, length), with_eos(pair.target, target, length)});
  return result;
}

PaddedIds pad(std::span<const std::vector<std::int32_t>> rows) {
  std::size_t longest = 0;
  for (const auto& row : rows) longest = std::max(longest, row.size());
  std::vector<std::int32_t> ids, lengths;
  ids.reserve(rows.size() * longest);
  for (const auto& row : rows) {
    ids.insert(ids.end(), row.begin(), row.end());
    ids.insert(ids.end(), longest - row.size(), Vocabulary::pad);
    lengths.push_back(static_cast<std::int32_t>(row.size()));
  }
  return {Ids(std::move(ids), {static_cast<Index>(rows.size()), static_cast<Index>(longest)}), Ids(std::move(lengths))};
}

Batch make_batch(std::span<const Example* const> rows) {
  std::vector<std::vector<std::int32_t>> sources, targets, inputs, words;
  Batch batch;
  for (const Example* row : rows) {
    sources.push_back(row->source);
    targets.push_back(row->target);
    inputs.push_back({Vocabulary::bos});
    inputs.back().insert(inputs.back().end(), row->target.begin(), row->target.end() - 1);
    words.push_back(row->words);
    batch.weights.push_back(row->weight);
    batch.tokens += static_cast<Index>(row->target.size());
  }
  batch.source = pad(sources);
  batch.target = pad(targets);
  batch.inputs = pad(inputs).ids;
  batch.words = pad(words).ids;
  return batch;
}

MicroBatch all_rows(const std::vector<Example>& examples) {
  MicroBatch rows;
  for (const Example& example : examples) rows.push_back(&example);
  return rows;
}

double padding_share(const std::vector<MicroBatch>& batches) {
  std::size_t places = 0, tokens = 0;
  for (const MicroBatch& rows : batches) {
    std::size_t source = 0, target = 0;
    for (const Example* row : rows) {
      source = std::max(source, row->source.size());
      target = std::max(target, row->target.size());
      tokens += row->source.size() + row->target.size();
    }
    places += rows.size() * (source + target);
  }
  return places == 0 ? 0 : 1 - static_cast<double>(tokens) / static_cast<double>(places);
}

std::vector<std::size_t> deal(std::span<const Example* const> rows, std::size_t shards) {
  std::size_t total = 0;
  for (const Example* row : rows) total += row->target.size();
  std::vector<std::size_t> boundaries{0};
  std::size_t row = 0, tokens = 0;
  for (std::size_t shard = 1; shard < shards; ++shard) {
    // The boundary after which the tokens so far are nearest to their share.
    while (row < rows.size() && (2 * tokens + rows[row]->target.size()) * shards <= 2 * total * shard)
      tokens += rows[row++]->target.size();
    boundaries.push_back(row);
  }
  boundaries.push_back(rows.size());
  return boundaries;
}

namespace {

core::Random epoch_random(std::uint64_t seed, Index epoch) {
  constexpr std::uint64_t stream = 0x0e90c4;  // apart from the streams of parameters and masks
  return core::Random(seed, stream + static_cast<std::uint64_t>(epoch));
}

MicroBatch shuffled(const std::vector<Example>& data, core::Random& random) {
  MicroBatch order = all_rows(data);
  random.shuffle(std::span(order));
  return order;
}

}  // namespace

std::vector<MicroBatch> epoch_batches(const std::vector<Example>& data, std::size_t batch, bool bucket,
                                      std::uint64_t seed, Index epoch) {
  constexpr std::size_t pool_batches = 50;
  core::Random random = epoch_random(seed, epoch);
  MicroBatch order = shuffled(data, random);
  if (bucket) {
    const auto shorter = [](const Example* a, const Example* b) {
      return std::pair(a->target.size(), a->source.size()) < std::pair(b->target.size(), b->source.size());
    };
    for (std::size_t begin = 0; begin < order.size(); begin += pool_batches * batch)
      std::stable_sort(
          order.begin() + static_cast<std::ptrdiff_t>(begin),
          order.begin() + static_cast<std::ptrdiff_t>(std::min(order.size(), begin + pool_batches * batch)), shorter);
  }
  std::vector<MicroBatch> batches;
  for (std::size_t begin = 0; begin < order.size(); begin += batch)
    batches.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(begin),
                         order.begin() + static_cast<std::ptrdiff_t>(std::min(order.size(), begin + batch)));
  if (bucket) random.shuffle(std::span(batches));
  return batches;
}

std::vector<MicroBatch> token_batches(const std::vector<Example>& data, Index tokens, std::uint64_t seed, Index epoch) {
  core::Random random = epoch_random(seed, epoch);
  MicroBatch order = shuffled(data, random);
  const auto longer_side = [](const Example* row) {
    return static_cast<Index>(std::max(row->source.size(), row->target.size()));
  };
  // By the side that counts, then by how much longer the source is: sentences of one batch are alike on both sides.
  const auto key = [&](const Example* row) {
    return std::pair(longer_side(row), static_cast<Index>(row->source.size()) - static_cast<Index>(row->target.size()));
  };
  std::stable_sort(order.begin(), order.end(), [&](const Example* a, const Example* b) { return key(a) < key(b); });
  std::vector<MicroBatch> batches;
  for (const Example* row : order) {
    const Index longest = longer_side(row);  // of all so far: they are sorted
    if (longest > tokens)
      throw UsageError(fmt::format("--batch-tokens: must hold the longest sentence, {} tokens with <eos>; given {}",
                                   longer_side(order.back()), tokens));
    if (batches.empty() || static_cast<Index>(batches.back().size() + 1) * longest > tokens) batches.emplace_back();
    batches.back().push_back(row);
  }
  random.shuffle(std::span(batches));
  return batches;
}

}  // namespace tapestry
