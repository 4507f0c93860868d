#include "tools/decoding_options.h"

namespace tapestry {

DecodingFlags::DecodingFlags(CLI::App& command, bool alternatives) : command_(command) {
  add_number(command, "--beam", options_.beam, "Hypotheses kept after each token; 1, the default, is greedy decoding");
  add_number(command, "--length-penalty", options_.length_penalty,
             "A: hypotheses are ranked by log-probability / length^A (default: 1)");
  if (!alternatives) return;
  add_number(command, "--n-best", options_.best,
             "The N best translations of each sentence, a line each: sentence, rank, score, log-probability, text");
  command.add_flag("--sample", sample_, "Draw each token by its probability");
  add_number(command, "--temperature", sampling_.temperature,
             "Divides the logits before a token is drawn (default: 1)");
  add_number(command, "--top-k", sampling_.top_k, "Draw among the N most probable tokens only; 0, the default: all");
  add_number(command, "--seed", sampling_.seed, "Seed of the drawing (default: 1)");
}

DecodingOptions DecodingFlags::options() const {
  const auto demand = [this](const char* option, const char* base) {
    if (command_.get_option_no_throw(option) != nullptr && command_.count(option) > 0 && command_.count(base) == 0)
      throw UsageError(fmt::format("{}: goes with {}, which is not given", option, base));
  };
  demand("--length-penalty", "--beam");
  for (const char* option : {"--temperature", "--top-k", "--seed"}) demand(option, "--sample");
  DecodingOptions options = options_;
  if (sample_) options.sampling = sampling_;
  validate(options);
  return options;
}

void BleuFlags::add_to(CLI::App& command) {
  const auto read = [this](const std::string& name) {
    if (name != "none" && name != "13a")
      throw UsageError(fmt::format("--tokenize: must be none or 13a; given {}", name));
    tokenizer_ = name == "13a" ? BleuTokenizer::mteval_13a : BleuTokenizer::none;
  };
  command
      .add_option_function<std::string>("--tokenize", read,
                                        "Tokens that BLEU counts: none, the words as they are, or 13a "
                                        "(default: none, 13a for a run that writes plain text)")
      ->type_name("none|13a");
  command.add_flag("--lowercase", lowercase_, "Let BLEU ignore upper and lower case");
}

BleuOptions BleuFlags::options(const Run& run) const {
  BleuOptions options = bleu_options(run);
  if (tokenizer_) options.tokenizer = *tokenizer_;
  options.lowercase = lowercase_;
  return options;
}

std::string bleu_details(const BleuScore& bleu) {
  const double ratio = static_cast<double>(bleu.stats.sys_len) / static_cast<double>(bleu.stats.ref_len);
  return fmt::format("precisions {:.1f}/{:.1f}/{:.1f}/{:.1f}, brevity penalty {:.3f}, length {} of {} (ratio {:.3f})",
                     bleu.precisions[0], bleu.precisions[1], bleu.precisions[2], bleu.precisions[3], bleu.bp,
                     bleu.stats.sys_len, bleu.stats.ref_len, ratio);
}

std::string description(const DecodingOptions& options) {
  if (options.beam == 1) return "greedy";
  return fmt::format("beam {}, length penalty {}", options.beam, options.length_penalty);
}

}  // namespace tapestry
