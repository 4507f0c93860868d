#include "tools/bench_decode.h"

#include <nlohmann/json.hpp>

#include "models/decoding.h"
#include "models/run_config.h"
#include "models/uncached.h"
#include "tools/apart.h"
#include "tools/mean_seconds.h"
#include "tools/median.h"
#include "tools/random_sentence.h"
#include "tools/table.h"

namespace tapestry {
namespace {

constexpr Index words = 10000, sentences = 256, source_tokens = 15, steps = 14, batch = 64;

struct Decoder {
  std::string name;
  bool cached;
  Index beam;
};

double sentences_per_second(const Decoder& decoder, int threads) {
  core::Workers workers(threads);
  ParameterStore store(DType::f32, 1);
  const auto model = make_model(preset("transformer-tiny").shape(words, words), Scope(store));
  const Uncached uncached(*model);

  core::Random random(1);
  std::vector<TokenIds> sources(sentences);
  for (TokenIds& source : sources) source = random_sentence(random, words, source_tokens);
  DecodingOptions options;
  options.beam = decoder.beam;
  options.limit = steps;
  options.batch = batch * decoder.beam;
  options.stop = false;
  const auto run = [&] {
    decode(decoder.cached ? *model : static_cast<const EncoderDecoder&>(uncached), sources, workers, options);
  };
  run();  // until caches and free lists are warm
  return static_cast<double>(sentences) / mean_seconds(0.5, run);
}

}  // namespace

std::vector<DecodeRow> bench_decode(const std::vector<int>& threads, int repetitions) {
  const std::vector<Decoder> decoders{{"greedy, uncached", false, 1}, {"greedy", true, 1}, {"beam 5", true, 5}};
  std::vector<std::vector<double>> speeds(decoders.size() * threads.size());
  for (int r = 0; r < repetitions; ++r)
    for (std::size_t i = 0; i < speeds.size(); ++i)
      speeds[i].push_back(apart([&] {
        return std::vector{sentences_per_second(decoders[i / threads.size()], threads[i % threads.size()])};
      })[0]);

  std::vector<DecodeRow> rows;
  for (std::size_t i = 0; i < speeds.size(); ++i)
    rows.push_back({decoders[i / threads.size()].name, threads[i % threads.size()], median(speeds[i])});
  return rows;
}

nlohmann::json to_json(const DecodeRow& row) {
  return {{"decoder", row.decoder}, {"threads", row.threads}, {"sentences_per_second", row.sentences_per_second}};
}

std::string format_decoding(const std::vector<DecodeRow>& rows, int repetitions) {
  std::vector<std::vector<std::string>> table{{"decoding", "threads", "sentences/s"}};
  for (const DecodeRow& row : rows)
    table.push_back({row.decoder, std::to_string(row.threads), fmt::format("{:.1f}", row.sentences_per_second)});
  return fmt::format(
      "{}transformer-tiny, {} steps of {} sentences of {} tokens at a time; medians of {} alternating runs\n",
      format_table(table, "lrr"), steps, batch, source_tokens, repetitions);
}

}  // namespace tapestry
