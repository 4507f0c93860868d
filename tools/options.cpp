#include "tools/options.h"

#include <fmt/ranges.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "models/utf8.h"
#include "nn/attention_pooling.h"

namespace tapestry {
namespace {

bool looks_like_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return '0' <= c && c <= '9'; });
}

}  // namespace

std::pair<Index, Index> parse_range(std::string_view option, std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos || dash == 0 || text.substr(dash + 1).starts_with('-'))
    throw UsageError(fmt::format("{}: must be LOW-HIGH, such as 1-25; given {}", option, text));
  return {parse_number<Index>(option, text.substr(0, dash)), parse_number<Index>(option, text.substr(dash + 1))};
}

void require_other_file(const char* option, const std::string& path, const char* other_option,
                        const std::string& other) {
  if (path.empty() || other.empty()) return;
  namespace fs = std::filesystem;
  std::error_code absent;  // then they are told apart by their names
  if (fs::equivalent(path, other, absent) ||
      fs::weakly_canonical(fs::absolute(path)) == fs::weakly_canonical(fs::absolute(other)))
    throw UsageError(fmt::format("{}: must not be the file of {}; given {}", option, other_option, path));
}

void add_threads(CLI::App& command, int& threads) {
  threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const auto read = [&threads](const std::string& text) {
    threads = parse_number<int>("--threads", text);
    require_within("--threads", threads, 1, 1024);
  };
  command
      .add_option_function<std::string>("--threads", read,
                                        "Threads that compute; no result depends on it (default: one a core)")
      ->type_name("N");
}

void require_named(const char* demand, const std::string& name) {
  if (name.empty()) throw UsageError(fmt::format("{}; given an empty name", demand));
}

void require_utf8_path(const char* option, const std::string& path) {
  const std::size_t bad = first_malformed(path);
  if (bad != std::string::npos)
    throw UsageError(fmt::format("{} must have a full path in UTF-8, which the run keeps; byte {} of it is 0x{:02x}",
                                 option, bad + 1, static_cast<unsigned char>(path[bad])));
}

void require_writable_file(const char* option, const std::string& path) {
  if (path.empty()) throw UsageError(fmt::format("{}: must name a file; given an empty name", option));
  std::error_code ignored;
  require(!std::filesystem::is_directory(path, ignored), "{}: {} must be a file; it is a directory", option, path);
  const auto folder = std::filesystem::absolute(path).parent_path();
  require(std::filesystem::is_directory(folder) && ::access(folder.c_str(), W_OK) == 0,
          "{}: {} must be in a folder that can be written to", option, path);
}

void add_json(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "Print one JSON object instead of a table");
}

void ConfigOptions::text(const std::string& option, std::string RunConfig::*field, const std::string& type,
                         const std::string& description) {
  const auto read = [this, option, field](const std::string& value) {
    if (value.empty()) throw UsageError(option + ": must not be empty");
    given_.push_back([=](RunConfig& config) { config.*field = value; });
  };
  command_.add_option_function<std::string>(option, read, description)->type_name(type)->group(group_);
}

void ConfigOptions::flag(const std::string& option, bool RunConfig::*field, const std::string& description) {
  const auto read = [this, field](const bool& value) {
    given_.push_back([=](RunConfig& config) { config.*field = value; });
  };
  command_
      .add_flag_function(
          option, [read](std::int64_t count) { read(count > 0); }, description)
      ->group(group_);
}

void ConfigOptions::part(const std::string& option, Index RunConfig::*number,
                         std::vector<std::string> RunConfig::*files, const std::string& description) {
  const auto read = [this, option, number, files](const std::vector<std::string>& all) {
    if (all.front().empty() || all.back().empty()) throw UsageError(option + ": must not be empty");
    const std::vector<std::string> values(std::find(all.rbegin(), all.rend(), "").base(), all.end());
    const bool drawn = values.size() == 1 && looks_like_number(values[0]);
    const Index count = drawn ? parse_number<Index>(option, values[0]) : 0;
    const std::vector<std::string> names = drawn ? std::vector<std::string>() : values;
    given_.push_back([=](RunConfig& config) {
      config.*number = count;
      config.*files = names;
    });
  };
  CLI::Option* const added = command_.add_option_function<std::vector<std::string>>(option, read, description)
                                 ->type_name("N|FILE...")
                                 ->group(group_)
                                 ->expected(1, 2)
                                 ->allow_extra_args(false)
                                 ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  added->inject_separator();  // an empty value before those of an option given again: the last ones win
}

void add_text_options(ConfigOptions& options) {
  options.text("--data", &RunConfig::data, "PAIRS.tsv", "Tab-separated sentence pairs, source first");
  options.text("--source", &RunConfig::source, "FILE", "Source sentences, one a line; with --target");
  options.text("--target", &RunConfig::target, "FILE", "Their translations, line by line");
  options.number("--pairs", &RunConfig::pairs, "Only the first N pairs; 0: all, or 20000 of the built-in corpus");
  options.part("--test", &RunConfig::test, &RunConfig::test_files,
               "Test part: N source sentences drawn from the text, or a file (two with --source and --target)");
  options.number("--split-seed", &RunConfig::split_seed, "Seed of the drawing of parts, and of the built-in corpus");
  options.flag("--reverse,!--no-reverse", &RunConfig::reverse,
               "Translate from the second column, or from the --target file, to the first");
}

void add_model_options(ConfigOptions& options) {
  options.group("Model");
  options.text("--model", &RunConfig::model, "NAME", fmt::format("One of {}", fmt::join(model_names(), ", ")));
  options.number("--embed", &RunConfig::embed, "Width of an embedded word");
  options.number("--hidden", &RunConfig::hidden, "Width of the recurrent layers");
  options.text("--cell", &RunConfig::cell, "NAME",
               fmt::format("Cell of the recurrent layers: one of {}", fmt::join(cell_names(), ", ")));
  options.flag("--bidirectional,!--no-bidirectional", &RunConfig::bidirectional,
               "The recurrent encoder reads in both directions, as that of bahdanau-paper always does");
  options.number("--layers", &RunConfig::layers, "Layers of the encoder and of the decoder");
  options.number("--dropout", &RunConfig::dropout, "Share of the activations that training drops");
  options.text("--score", &RunConfig::score, "NAME",
               fmt::format("How Bahdanau's attention fits keys to a query: one of {}", fmt::join(score_names(), ", ")));
  options.text("--normaliser", &RunConfig::normaliser, "NAME",
               "What makes weights of the scores: softmax, or relu over the number of words");
  options.group("Transformer");
  options.number("--width", &RunConfig::width, "Width of the model");
  options.number("--ffn", &RunConfig::feed_forward, "Width of the feed-forward layers");
  options.number("--heads", &RunConfig::heads, "Heads of each attention; they divide the width");
  options.text("--norm", &RunConfig::norm, "NAME", "post: after each sublayer, as the paper; pre: before it; or none");
  options.flag("--residual,!--no-residual", &RunConfig::residual,
               "What goes into a sublayer is added to what it gives");
  options.text("--final-norm", &RunConfig::final_norm, "NAME",
               "Once more after each stack: on, off, or auto: with pre");
  options.flag("--attention-bias,!--no-attention-bias", &RunConfig::attention_bias,
               "Biases of the attention's projections");
  options.number("--attention-dropout", &RunConfig::attention_dropout, "Share of the attention weights dropped");
  options.number("--ffn-dropout", &RunConfig::feed_forward_dropout, "Share dropped inside the feed-forward layers");
  options.text("--positions", &RunConfig::positions, "NAME",
               fmt::format("How places are told: {}", fmt::join(position_kinds(), ", ")));
  options.number("--max-positions", &RunConfig::max_positions,
                 "Rows of the learned positions: tokens of the longest sentence");
  options.text("--tie", &RunConfig::tie, "NAME",
               "Embeddings that share a table: none, output (target's and output's), all");
  options.text("--init", &RunConfig::init, "NAME", "Initial spread of the Transformer's parameters: paper or book");
}

std::string said_positions(const RunConfig& config) {
  if (config.model != "transformer") return "";
  return (config.positions == "none" ? "no" : config.positions) + " positions";
}

}  // namespace tapestry
