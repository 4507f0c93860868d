#include "models/resume.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

namespace tapestry {
namespace {

// "label_smoothing" -> "--label-smoothing"
std::string option_of(std::string key) {
  const std::map<std::string, std::string> of_other_names{{"feed_forward", "ffn"},
                                                          {"feed_forward_dropout", "ffn-dropout"},
                                                          {"valid_files", "valid"},
                                                          {"test_files", "test"}};
  if (const auto other = of_other_names.find(key); other != of_other_names.end()) return "--" + other->second;
  std::replace(key.begin(), key.end(), '_', '-');
  return "--" + key;
}

void require_same_text(const std::string& directory, const char* part, const Fingerprint& run, const Corpus& corpus) {
  const Fingerprint now = fingerprint(corpus);
  const auto require_same = [&](bool same, const std::string& difference) {
    require(same, "{}: to go on, the {} text must be the one that it began with; {}", directory, part, difference);
  };
  require_same(run.pairs == now.pairs, fmt::format("it had {} pairs, given {}", run.pairs, now.pairs));
  require_same(run.tokens == now.tokens, fmt::format("it had {} tokens, given {}", run.tokens, now.tokens));
  require_same(run.digest == now.digest, fmt::format("its fingerprint was {}, given {}", run.digest, now.digest));
}

void require_same_vocabulary(const std::string& path, const Vocabulary& text) {
  const Vocabulary run = Vocabulary::load(path);
  for (std::size_t i = 0; i < std::min(run.size(), text.size()); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    require(run.token(id) == text.token(id), "{}: to go on, the words must be those of the text; word {} is {}, not {}",
            path, i, run.token(id), text.token(id));
  }
  require(run.size() == text.size(), "{}: to go on, the words must be those of the text; it has {}, not {}", path,
          run.size(), text.size());
}

}  // namespace

void require_same_training(const RunConfig& run, const RunConfig& asked) {
  std::vector<std::string> changeable{"epochs", "updates", "patience", "keep", "checkpoint_every", "valid_bleu"};
  if (run.schedule == "linear") changeable.erase(changeable.begin(), changeable.begin() + 2);
  const nlohmann::json before = to_json(run), now = to_json(asked);
  for (const auto& [key, value] : before.items())
    if (value != now[key] && std::find(changeable.begin(), changeable.end(), key) == changeable.end())
      throw UsageError(fmt::format("{}: must be as in the run that goes on, {}; given {}", option_of(key), value.dump(),
                                   now[key].dump()));
}

Fingerprint fingerprint(const Corpus& corpus) {
  Fingerprint result{static_cast<Index>(corpus.size()), 0, {}};
  std::string text;
  for (const SentencePair& pair : corpus.pairs)
    for (const Tokens* side : {&pair.source, &pair.target}) {
      for (const std::string& token : *side) text += token + ' ';
      text += '\n';
      result.tokens += static_cast<Index>(side->size());
    }
  result.digest = fmt::format("{:016x}", name_hash(text));
  return result;
}

Run resumable_run(const std::string& directory, const RunConfig& config, const RunData& data) {
  const std::filesystem::path path(directory);
  const auto state = Checkpoints(directory, config.keep).newest();
  require(state || !std::filesystem::exists(path / "summary.json"),
          "{}: must hold a checkpoint to go on from; it holds a finished model only", directory);
  if (state) {
    require_same_training(state->config, config);
    require_same_text(directory, "training", state->train_text, data.train);
    require_same_text(directory, "validation", state->valid_text, data.valid);
  }
  auto [source, target] = vocabularies(config, data);
  require_same_vocabulary((path / "source.vocab").string(), source);
  require_same_vocabulary((path / "target.vocab").string(), target);
  Run run(config, std::move(source), std::move(target));
  run.segmenter = data.segmenter;
  return run;
}

}  // namespace tapestry
