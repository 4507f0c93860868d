#pragma once
// Errors are part of the interface: "op: what must hold; what was given".

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace tapestry {

/// What can go wrong at run time: shapes that do not fit, files that cannot be read, a loss that is not finite.
/// The program prints its one line and exits with status 1.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A command line, a preset or an option that cannot be meant. The program exits with status 2.
struct UsageError : Error {
  using Error::Error;
};

[[noreturn]] void fail(const std::string& message);

/// Throws Error with the formatted message unless `holds`. The message is only built when it is needed.
template <class... Args>
void require(bool holds, fmt::format_string<Args...> format, Args&&... args) {
  if (!holds) [[unlikely]]
    fail(fmt::format(format, std::forward<Args>(args)...));
}

/// Throws UsageError unless `value` is one of `known`: `--norm: must be one of post, pre; given middle`.
void require_one_of(const std::string& option, const std::string& value, const std::vector<std::string>& known);

/// Throws UsageError unless low <= value <= high, as NaN never is: `--heads: must lie in [1, 8]; given 9`.
template <class T>
void require_within(const std::string& option, T value, std::type_identity_t<T> low, std::type_identity_t<T> high) {
  if (!(low <= value && value <= high))
    throw UsageError(fmt::format("{}: must lie in [{}, {}]; given {}", option, low, high, value));
}

}  // namespace tapestry
