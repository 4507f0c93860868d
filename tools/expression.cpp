#include "tools/expression.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "autograd/ops.h"

namespace tapestry {
namespace {

// Recursive descent, one function a level:
//   sum = product {(+ | -) product}    product = operand {(* | / | @) operand}    operand = atom {.method(...) | [...]}
class Evaluator {
 public:
  Evaluator(std::string_view text, OracleCase& c) : text_(text), case_(c) {}

  Var whole() {
    Var value = sum();
    if (!rest().empty()) refuse();
    return value;
  }

 private:
  Var sum() {
    Var value = product();
    while (true) {
      if (take("+")) {
        value = value + product();
      } else if (take("-")) {
        value = value - product();
      } else {
        return value;
      }
    }
  }

  Var product() {
    Var value = operand();
    while (true) {
      if (take("*")) {
        value = value * operand();
      } else if (take("/")) {
        value = value / operand();
      } else if (take("@")) {
        value = matmul(value, operand());
      } else {
        return value;
      }
    }
  }

  Var operand() {
    Var value = atom();
    while (true) {
      if (take(".")) {
        value = method(value);
      } else if (take("[")) {
        value = sliced(value);
      } else {
        return value;
      }
    }
  }

  Var atom() {
    if (take("(")) {
      Var value = sum();
      expect(")");
      return value;
    }
    if (!rest().empty() && std::isdigit(static_cast<unsigned char>(rest()[0]))) return number();
    const std::string word = name();
    if (word != "cat" && word != "stack") return case_.in(word);
    expect("(");
    expect("[");
    std::vector<Var> parts{sum()};
    while (take(",")) parts.push_back(sum());
    expect("]");
    const int axis = take(",") ? static_cast<int>(integer()) : 0;
    expect(")");
    return word == "cat" ? concat(parts, axis) : stack(parts, axis);
  }

  Var method(const Var& x) {
    const std::string word = name();
    if (word == "T") return transpose(x, 0, 1);
    expect("(");
    std::vector<Index> numbers;
    while (!take(")")) {
      numbers.push_back(integer());
      take(",");
    }
    const auto given = [&](std::size_t i) { return i < numbers.size() ? numbers[i] : refuse(); };
    if (word == "t") return transpose(x, 0, 1);
    if (word == "contiguous") return x;
    if (word == "transpose") return transpose(x, static_cast<int>(given(0)), static_cast<int>(given(1)));
    if (word == "permute") return permute(x, std::vector<int>(numbers.begin(), numbers.end()));
    if (word == "reshape" || word == "view") return reshaped(x, numbers);
    if (word == "flatten") return reshaped(x, {-1});
    if (word == "expand") return expand(x, Shape(numbers));
    if (word == "unsqueeze") return unsqueezed(x, given(0));
    if (word == "select") return select(x, static_cast<int>(given(0)), given(1));
    refuse();
  }

  static Var reshaped(const Var& x, std::vector<Index> sizes) {
    Index known = 1;
    for (Index size : sizes) known *= size < 0 ? 1 : size;
    for (Index& size : sizes)
      if (size < 0) size = x.numel() / known;
    return reshape(x, Shape(sizes));
  }

  static Var unsqueezed(const Var& x, Index axis) {
    return reshape(x, x.shape().inserted(static_cast<int>(axis < 0 ? axis + x.rank() + 1 : axis), 1));
  }

  // begin:end:step, any of them left out, or an index; one for each axis.
  Var sliced(Var x) {
    for (int axis = 0; !take("]"); take(",")) {
      const std::optional<Index> first = maybe_integer();
      if (!take(":")) {
        x = select(x, axis, first ? *first : refuse());
        continue;
      }
      const Index size = x.size(axis);
      const auto clipped = [size](Index i) { return std::clamp<Index>(i < 0 ? i + size : i, 0, size); };
      const Index begin = clipped(first.value_or(0)), end = clipped(maybe_integer().value_or(size));
      const Index step = take(":") ? maybe_integer().value_or(1) : 1;
      x = slice(x, axis++, begin, end, step);
    }
    return x;
  }

  Var number() {
    double value = 0;
    const std::string_view from = rest();
    const auto result = std::from_chars(from.data(), from.data() + from.size(), value);
    place_ += static_cast<std::size_t>(result.ptr - from.data());
    return case_.constant(value);
  }

  std::optional<Index> maybe_integer() {
    Index value = 0;
    const std::string_view from = rest();
    const auto result = std::from_chars(from.data(), from.data() + from.size(), value);
    if (result.ec != std::errc()) return std::nullopt;
    place_ += static_cast<std::size_t>(result.ptr - from.data());
    return value;
  }
  Index integer() {
    const std::optional<Index> value = maybe_integer();
    return value ? *value : refuse();
  }

  std::string name() {
    const std::string_view from = rest();
    std::size_t n = 0;
    while (n < from.size() && (std::isalnum(static_cast<unsigned char>(from[n])) || from[n] == '_')) ++n;
    if (n == 0) refuse();
    place_ += n;
    return std::string(from.substr(0, n));
  }

  // What is left, spaces skipped.
  std::string_view rest() {
    while (place_ < text_.size() && text_[place_] == ' ') ++place_;
    return text_.substr(place_);
  }
  bool take(std::string_view token) {
    if (!rest().starts_with(token)) return false;
    place_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) refuse();
  }
  [[noreturn]] Index refuse() const {
    throw NotImplemented(fmt::format("expression \"{}\": not understood from character {}", text_, place_ + 1));
  }

  std::string_view text_;
  std::size_t place_ = 0;
  OracleCase& case_;
};

}  // namespace

std::optional<std::string> expression_of(const OracleCase& c) {
  if (c.given("expr")) return c.hyper<std::string>("expr");
  if (c.entry().notes.starts_with("y = ")) return c.entry().notes.substr(4);
  return std::nullopt;
}

Var evaluate(const std::string& text, OracleCase& c) {
  return Evaluator(text, c).whole();
}

}  // namespace tapestry
