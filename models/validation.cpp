#include "models/validation.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

namespace tapestry {

Validation run_validation(const Run& run, const Corpus& corpus, const std::vector<Example>& examples, Index most,
                          core::Workers& workers) {
  constexpr std::size_t samples = 3;
  Corpus part = corpus;
  if (most > 0 && static_cast<std::size_t>(most) < part.size()) part.pairs.resize(static_cast<std::size_t>(most));
  Validation result;
  result.loss = mean_loss(*run.model, examples, workers);
  if (!std::isfinite(result.loss)) return result;
  const Evaluation evaluation = score_translations(run, part, workers);
  result.translated = part.size();
  result.bleu = evaluation.bleu.score;
  result.bleu_signature = bleu_signature(evaluation.scoring);
  result.length_ratio =
      static_cast<double>(evaluation.bleu.stats.sys_len) / static_cast<double>(evaluation.bleu.stats.ref_len);
  const std::vector<Tokens> inputs = sources(part);
  const std::set<std::string> different(evaluation.hypotheses.begin(), evaluation.hypotheses.end());
  result.distinct = static_cast<double>(different.size()) / static_cast<double>(part.size());
  result.stuck = different.size() == 1 && std::set<Tokens>(inputs.begin(), inputs.end()).size() > 1;
  for (std::size_t i = 0; i < std::min(samples, part.size()); ++i) {
    const std::size_t place = i * part.size() / samples;
    result.samples.push_back({spaced(run.segmenter.words(inputs[place])),
                              spaced(run.segmenter.words(part.pairs[place].target)), evaluation.hypotheses[place]});
  }
  return result;
}

nlohmann::json to_json(const Validation& validation) {
  nlohmann::json samples = nlohmann::json::array();
  for (const auto& sample : validation.samples)
    samples.push_back(
        {{"source", sample.source}, {"reference", sample.reference}, {"translation", sample.translation}});
  return {{"valid_loss", validation.loss},
          {"bleu", validation.bleu},
          {"bleu_signature", validation.bleu_signature},
          {"translated", validation.translated},
          {"length_ratio", validation.length_ratio},
          {"distinct", validation.distinct},
          {"samples", samples}};
}

}  // namespace tapestry
