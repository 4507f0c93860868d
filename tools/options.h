#pragma once
// Options of the command line, read strictly.

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/run_config.h"

namespace tapestry {

/// The number that `text` is, all of it, in decimal. Errors (UsageError): `--epochs: must be a whole number; given
/// abc`, or a number that is not finite or does not fit its type.
template <class T>
T parse_number(std::string_view option, std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool good = error == std::errc() && end == text.data() + text.size();
  if constexpr (std::is_floating_point_v<T>) good = good && std::isfinite(value);
  if (good) return value;
  const char* kind = std::is_floating_point_v<T> ? "finite number"
                     : std::is_unsigned_v<T>     ? "whole number from 0 on"
                                                 : "whole number";
  throw UsageError(fmt::format("{}: must be a {}{}; given {}", option, kind,
                               error == std::errc::result_out_of_range ? " of at most 64 bits" : "", text));
}

/// The two numbers of "1-25". Errors (UsageError): `--length: must be LOW-HIGH, such as 1-25; given ...`, a number as
/// parse_number says it.
std::pair<Index, Index> parse_range(std::string_view option, std::string_view text);

/// Adds an option that sets `value` if it is given.
template <class T>
CLI::Option* add_number(CLI::App& command, const std::string& option, T& value, const std::string& description) {
  const auto read = [&value, option](const std::string& text) { value = parse_number<T>(option, text); };
  return command.add_option_function<std::string>(option, read, description)
      ->type_name(std::is_floating_point_v<T> ? "X" : "N");
}

/// Errors (UsageError): a file to be written that is another one of the command.
void require_other_file(const char* option, const std::string& path, const char* other_option,
                        const std::string& other);

/// --threads. `threads` becomes the number of cores first. Errors (UsageError): outside [1, 1024].
void add_threads(CLI::App& command, int& threads);

/// Errors (UsageError): `evaluate: DIR must name a run directory; given an empty name`, of which `demand` is all before
/// the semicolon.
void require_named(const char* demand, const std::string& name);

/// Errors (UsageError): `--data: must have a full path in UTF-8, ...`, of which `option` is "--data:". For paths that a
/// run keeps in its JSON files.
void require_utf8_path(const char* option, const std::string& path);

/// Errors: `--attention: x/y.svg must be in a folder that can be written to`, or it is a directory itself; UsageError
/// if it is empty. For files written at the end of long work.
void require_writable_file(const char* option, const std::string& path);

/// --json.
void add_json(CLI::App& command, bool& json);

/// Options that each set a field of a RunConfig. Which configuration they are to change may itself depend on the
/// command line (a preset, a run), so they are kept until it is known.
class ConfigOptions {
 public:
  explicit ConfigOptions(CLI::App& command) : command_(command) {}
  ConfigOptions(const ConfigOptions&) = delete;  // options point to it
  ConfigOptions& operator=(const ConfigOptions&) = delete;

  /// The headline under which the help lists the options that follow.
  void group(const std::string& headline) { group_ = headline; }

  template <class T>
  void number(const std::string& option, T RunConfig::*field, const std::string& description) {
    const auto read = [this, option, field](const std::string& text) {
      const T value = parse_number<T>(option, text);
      given_.push_back([=](RunConfig& config) { config.*field = value; });
    };
    command_.add_option_function<std::string>(option, read, description)
        ->type_name(std::is_floating_point_v<T> ? "X" : "N")
        ->group(group_);
  }
  void text(const std::string& option, std::string RunConfig::*field, const std::string& type,
            const std::string& description);
  /// Several spellings may share a flag, one that begins with ! turns it off: "--reverse,!--no-reverse".
  void flag(const std::string& option, bool RunConfig::*field, const std::string& description);
  /// N|FILE...: a number of source sentences to draw, or one or two files.
  void part(const std::string& option, Index RunConfig::*number, std::vector<std::string> RunConfig::*files,
            const std::string& description);

  bool given(const std::string& option) const { return command_.count(option) > 0; }
  /// Sets the fields whose options were given.
  void apply(RunConfig& config) const {
    for (const auto& set : given_) set(config);
  }

 private:
  CLI::App& command_;
  std::string group_ = "Options";
  std::vector<std::function<void(RunConfig&)>> given_;
};

/// The options that say which text: --data, --source, --target, --pairs, --test, --split-seed, --reverse.
void add_text_options(ConfigOptions& options);

/// The options that say which model and how large.
void add_model_options(ConfigOptions& options);

/// "learned positions", "no positions" and so on; empty if the model is no Transformer.
std::string said_positions(const RunConfig& config);

}  // namespace tapestry
