#include "models/subwords.h"

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <set>

#include "core/error.h"
#include "models/utf8.h"

namespace tapestry {
namespace {

class Lines : public sentencepiece::SentenceIterator {
 public:
  explicit Lines(const std::vector<std::string>& lines) : lines_(lines) {}
  bool done() const override { return at_ == lines_.size(); }
  void Next() override { ++at_; }
  const std::string& value() const override { return lines_[at_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string>& lines_;
  std::size_t at_ = 0;
};

// Different ones, the space among them; U+2581 is one to the library.
Index count_characters(const std::vector<std::string>& lines) {
  std::set<char32_t> characters{U' '};
  for (const std::string& line : lines)
    for (std::size_t at = 0; at < line.size();) {
      const CodePoint c = decode_utf8(line, at);
      if (c.value != U'\u2581') characters.insert(c.value);
      at += c.length;
    }
  return static_cast<Index>(characters.size());
}

}  // namespace

bool Subwords::available() {
  return true;
}

Subwords Subwords::train(const std::vector<std::string>& raw, Index pieces) {
  std::vector<std::string> lines;
  for (const std::string& line : raw) lines.push_back(spaced(split_words(line)));
  const Index characters = count_characters(lines);
  if (pieces < characters)
    throw UsageError(
        fmt::format("--subwords: must be at least the {} different characters of this training text; given {}",
                    characters, pieces));
  Lines iterator(lines);
  std::string model;
  // One piece more, for the library counts <unk>. The limit is soft, so that it says how many pieces the text gives.
  const auto status = sentencepiece::SentencePieceTrainer::Train({{"model_type", "bpe"},
                                                                  {"vocab_size", std::to_string(pieces + 1)},
                                                                  {"hard_vocab_limit", "false"},
                                                                  {"character_coverage", "1"},
                                                                  {"normalization_rule_name", "identity"},
                                                                  {"unk_id", "0"},
                                                                  {"bos_id", "-1"},
                                                                  {"eos_id", "-1"},
                                                                  {"max_sentence_length", "1000000000"},
                                                                  {"num_threads", "1"},
                                                                  {"minloglevel", "2"}},
                                                                 &iterator, &model);
  require(status.ok(), "--subwords: SentencePiece must be able to learn from the training text; {}", status.ToString());
  Subwords result(std::move(model));
  const auto found = static_cast<Index>(result.pieces().size());
  if (found < pieces)
    throw UsageError(fmt::format("--subwords: must be at most {} for this training text; given {}", found, pieces));
  return result;
}

Subwords::Subwords(std::string model) : model_(std::move(model)) {
  const auto processor = std::make_shared<sentencepiece::SentencePieceProcessor>();
  require(processor->LoadFromSerializedProto(model_).ok(), "it must be a SentencePiece model; it is none");
  for (int id = 0; id < processor->GetPieceSize(); ++id)
    if (!processor->IsUnknown(id)) pieces_.push_back(processor->IdToPiece(id));
  processor_ = processor;
}

Tokens Subwords::split(std::string_view text) const {
  require_utf8(text);
  Tokens tokens;
  const auto status = processor_->Encode(spaced(split_words(text)), &tokens);
  require(status.ok(), "tokenize: SentencePiece must be able to split the text; {}", status.ToString());
  return tokens;
}

}  // namespace tapestry
