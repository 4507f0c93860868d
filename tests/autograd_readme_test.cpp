// The worked examples of autograd/README.md, run. The chapter quotes this file, and the tests compare what it prints.

#include <doctest/doctest.h>

#include <cmath>
#include <regex>

#include "autograd/gradcheck.h"
#include "autograd/observer.h"
#include "autograd/ops.h"
#include "autograd/record.h"
#include "core/elementwise.h"
#include "core/softmax.h"
#include "tests/readme.h"

using namespace tapestry;

namespace {

struct Printer : Observer {
  std::string text;
  void recorded(Index entry, const char* op, std::span<const Tensor> outputs) override {
    text += fmt::format("recorded  {}  {:4}  value {:.4f}\n", entry, op, outputs[0].item());
  }
  void walked(Index entry, const char* op, std::span<const Tensor> contributions) override {
    text += fmt::format("walked    {}  {:4}  hands on", entry, op);
    for (const Tensor& gradient : contributions) text += fmt::format("  {:.4f}", gradient.item());
    text += "\n";
  }
};

// Wrong: as if each y_i depended on its own x_i alone.
Var softmax_of_its_own(const Var& x) {
  Tensor y = core::softmax(x.value());
  return record("softmax", y, {x}, [y](const Tensor& dy, Grads& dx) {
    dx.add(0, core::map(
                  "softmax", [](auto g, auto v) { return g * v * (1 - v); }, dy, y));
  });
}

// The same text, with numbers that agree but for rounding: the last digits of a difference quotient are noise.
bool same_but_for_rounding(const std::string& a, const std::string& b) {
  static const std::regex number(R"(-?\d+(\.\d+)?(e[-+]?\d+)?)");
  if (std::regex_replace(a, number, "#") != std::regex_replace(b, number, "#")) return false;
  std::sregex_iterator i(a.begin(), a.end(), number), j(b.begin(), b.end(), number);
  for (; i != std::sregex_iterator(); ++i, ++j) {
    const double x = std::stod(i->str()), y = std::stod(j->str());
    if (std::abs(x - y) > 1e-7 * std::max(std::abs(x), std::abs(y))) return false;
  }
  return true;
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("the tape of autograd/README.md is the one that is walked") {
    const auto number = [](double value, const char* name) { return watch(Tensor::scalar(value, DType::f64), name); };
    Printer printer;
    const ObserverScope scope(printer);

    const Var w = number(0.5, "w"), x = number(2, "x"), b = number(-0.5, "b");
    Tape tape;
    const Var y = tanh(w * x + b) * x;
    const Gradients g = tape.backward(y);
    printer.text += fmt::format("dw {:.4f}  dx {:.4f}  db {:.4f}\n", g[w].item(), g[x].item(), g[b].item());

    CHECK(printer.text == readme_block("autograd/README.md", "tape"));
  }

  TEST_CASE("gradcheck reports the wrong backward of autograd/README.md as it says there") {
    const GradcheckReport report = gradcheck(
        {"softmax", {{{2, 3}}}, [](const std::vector<Var>& in) { return std::vector{softmax_of_its_own(in[0])}; }});
    CHECK_FALSE(report.passed);
    const std::string quoted = readme_block("autograd/README.md", "gradcheck");
    CHECK_MESSAGE(same_but_for_rounding(report.message + "\n", quoted), report.message);
    CHECK_FALSE(same_but_for_rounding("error 0.51", "error 0.52"));
    CHECK_FALSE(same_but_for_rounding("element 1", "argument 1"));
  }
}
