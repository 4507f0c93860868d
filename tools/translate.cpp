// tapestry translate: sentences in, sentences out, a line each.

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <iostream>
#include <optional>
#include <system_error>

#include "models/evaluate.h"
#include "tools/attention_file.h"
#include "tools/commands.h"
#include "tools/decoding_options.h"
#include "tools/options.h"

namespace tapestry {
namespace {

constexpr std::size_t lines_at_once = 1024;

struct TranslateOptions {
  explicit TranslateOptions(CLI::App& command) : decoding(command, true) {}
  std::string directory;
  DecodingFlags decoding;
  std::optional<std::string> attention;
  std::vector<std::string> sentences;
  int threads = 1;
};

/// The tokens of one line; `place` says where it stands. Errors: `place: text must be UTF-8 ...`.
Tokens read_sentence(const Segmenter& segmenter, std::string_view line, const std::string& place) {
  Tokens tokens;
  try {
    tokens = segmenter.split(line);
  } catch (const Error& error) {
    fail(fmt::format("{}: {}", place, error.what()));
  }
  if (tokens.size() > longest_sentence) {
    std::fprintf(stderr, "tapestry: warning: %s: only the first %zu of %zu tokens are translated\n", place.c_str(),
                 longest_sentence, tokens.size());
    tokens.resize(longest_sentence);
  }
  return tokens;
}

class Translator {
 public:
  explicit Translator(const TranslateOptions& options)
      : decoding_(options.decoding.options()),
        n_best_(options.decoding.n_best()),
        run_(load_run(options.directory)),
        workers_(options.threads),
        directory_(options.directory) {}

  const Segmenter& segmenter() const { return run_.segmenter; }

  void write_attention_to(AttentionFile& file) {
    require(attends(run_), "--attention: the model must have attention; {} is a {}, which has none", directory_,
            run_.config.model);
    attention_ = &file;
    decoding_.attention = true;
  }

  void operator()(const std::vector<Tokens>& sentences) {
    if (decoding_.sampling) decoding_.sampling->first_sentence = done_;
    for (const auto& translations : translate_n_best(run_, sentences, workers_, decoding_)) {
      ++done_;
      for (std::size_t rank = 0; rank < translations.size(); ++rank) print(translations[rank], rank + 1);
      if (attention_) attention_->add(translations.front());
    }
    // Told while errno is still that of the write; and what cannot be printed need not be translated.
    if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category(), "standard output");
  }

 private:
  void print(const TranslatedSentence& sentence, std::size_t rank) const {
    const std::string text = run_.segmenter.join(sentence.target);
    if (n_best_)
      fmt::print("{}\t{}\t{:.6f}\t{:.6f}\t{}\n", done_, rank, sentence.score, sentence.log_probability, text);
    else
      fmt::print("{}\n", text);
  }

  DecodingOptions decoding_;
  bool n_best_;
  Run run_;
  core::Workers workers_;
  std::string directory_;
  AttentionFile* attention_ = nullptr;
  std::uint64_t done_ = 0;  // sentences
};

void translate_arguments(const std::vector<std::string>& lines, Translator& translator) {
  std::vector<Tokens> sentences;
  for (std::size_t i = 0; i < lines.size(); ++i)
    sentences.push_back(read_sentence(translator.segmenter(), lines[i], fmt::format("sentence {}", i + 1)));
  translator(sentences);
}

/// Piece by piece, so that memory does not grow with the input; for someone who types, line by line.
void translate_input(Translator& translator) {
  std::ios::sync_with_stdio(false);
  const std::size_t most = isatty(STDIN_FILENO) == 1 ? 1 : lines_at_once;
  std::vector<Tokens> sentences;
  std::string line;
  for (std::size_t number = 1; std::getline(std::cin, line); ++number) {
    if (number == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);  // as the readers of files do
    sentences.push_back(read_sentence(translator.segmenter(), line, fmt::format("standard input:{}", number)));
    if (sentences.size() < most) continue;
    translator(sentences);
    sentences.clear();
  }
  require(!std::cin.bad(), "standard input: must be readable");
  translator(sentences);
}

void run_translate(const TranslateOptions& options) {
  require_named("translate: DIR must name a run directory", options.directory);
  std::optional<AttentionFile> attention;
  if (options.attention) attention.emplace(*options.attention);
  Translator translator(options);
  if (attention) translator.write_attention_to(*attention);
  if (options.sentences.empty())
    translate_input(translator);
  else
    translate_arguments(options.sentences, translator);
  if (attention) attention->write();
}

/// What follows DIR, as it stands. (A positional option of CLI11 would take "[a, b]" for a list of values.)
std::vector<std::string> sentences_of(const CLI::App& command) {
  for (const std::string& text : command.remaining())
    if (text.size() > 1 && text[0] == '-' && text[1] != ' ')
      throw UsageError(
          fmt::format("translate: {} is no option; give a sentence that begins so on standard input", text));
  return command.remaining();
}

}  // namespace

void add_translate(CLI::App& program) {
  CLI::App& command = *program.add_subcommand(
      "translate",
      "Translate the sentences given or, if none is, each line of standard input: as many lines out as in.\n\n"
      "tapestry translate DIR [SENTENCE ...]");
  const auto options = std::make_shared<TranslateOptions>(command);
  command.add_option("DIR", options->directory, "Run directory")->required();
  command
      .add_option("--attention", options->attention,
                  "Also draw where the model looked while it wrote (.svg), or write the weights (.tsv)")
      ->type_name("FILE");
  add_threads(command, options->threads);
  command.allow_extras();
  command.callback([options, &command] {
    options->sentences = sentences_of(command);
    run_translate(*options);
  });
}

}  // namespace tapestry
