#include "models/validation.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace tapestry {

Validation run_validation(const Run& run, const Corpus& corpus, const std::vector<Example>& examples, Index most,
                          core::Workers& workers) {
  constexpr std::size_t samples = 3;
  Validation result;
  result.loss = mean_loss(*run.model, examples, workers);

  Corpus part = corpus;
  if (most > 0 && static_cast<std::size_t>(most) < part.size()) part.pairs.resize(static_cast<std::size_t>(most));
  const std::vector<TranslatedSentence> translations = translate(run, sources(part), workers);
  std::set<Tokens> different, different_sources;
  BleuStats total;
  for (std::size_t i = 0; i < part.size(); ++i) {
    total += bleu_stats(translations[i].target, part.pairs[i].target);
    different.insert(translations[i].target);
    different_sources.insert(part.pairs[i].source);
    if (result.samples.size() < samples && i == result.samples.size() * part.size() / samples)
      result.samples.push_back({part.pairs[i].source, part.pairs[i].target, translations[i].target});
  }
  result.translated = part.size();
  result.bleu = bleu(total, word_bleu()).score;
  result.length_ratio = static_cast<double>(total.sys_len) / static_cast<double>(total.ref_len);
  result.distinct = static_cast<double>(different.size()) / static_cast<double>(part.size());
  result.stuck = different.size() == 1 && different_sources.size() > 1;
  return result;
}

nlohmann::json to_json(const Validation& validation) {
  nlohmann::json samples = nlohmann::json::array();
  for (const auto& sample : validation.samples)
    samples.push_back({{"source", fmt::format("{}", fmt::join(sample.source, " "))},
                       {"reference", fmt::format("{}", fmt::join(sample.reference, " "))},
                       {"translation", fmt::format("{}", fmt::join(sample.translation, " "))}});
  return {{"valid_loss", validation.loss},       {"bleu", validation.bleu},
          {"translated", validation.translated}, {"length_ratio", validation.length_ratio},
          {"distinct", validation.distinct},     {"samples", samples}};
}

}  // namespace tapestry
