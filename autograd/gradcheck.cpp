#include "autograd/gradcheck.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "autograd/tape.h"
#include "core/denormals.h"
#include "core/splitmix.h"

namespace tapestry {
namespace {

// What the points, cotangents and directions are drawn with.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(random_.next() >> 11) * 0x1.0p-53;
  }
  Index below(Index n) { return static_cast<Index>(random_.below(static_cast<std::uint64_t>(n))); }

 private:
  SplitMix64 random_;
};

// One argument under check and the elements of it that are compared.
struct Argument {
  Var var;
  double low, high;  // where elements are drawn again; an empty interval means a step beside the present value
  std::vector<Index> elements;
};

using Function = std::function<std::vector<Var>()>;

struct Difference {
  double derivative;
  double step;
  bool kink;
};

class Checker {
 public:
  Checker(std::string name, std::vector<Argument> arguments, Function function, const GradcheckOptions& options)
      : name_(std::move(name)),
        arguments_(std::move(arguments)),
        function_(std::move(function)),
        options_(options),
        draw_(options.seed ^ 0x6f6c6c6548) {}

  GradcheckReport run() {
    report_.name = name_;
    draw_cotangents();
    for (auto& argument : arguments_) choose_elements(argument);
    if (!leave_kinks()) return report_;
    const std::vector<Tensor> gradients = analytic();
    for (std::size_t a = 0; a < arguments_.size(); ++a) compare_elements(a, gradients[a]);
    if (options_.elements_per_input > 0) compare_direction(gradients);
    report_.passed = report_.checked > 0 && report_.worst <= options_.tolerance;
    return report_;
  }

 private:
  // f(x) = sum over outputs of <cotangent, output>, in f64.
  double f() {
    const std::vector<Var> outputs = function_();
    double sum = 0;
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const std::vector<double> y = outputs[o].value().values(), c = cotangents_[o].values();
      sum = std::inner_product(y.begin(), y.end(), c.begin(), sum);
    }
    return sum;
  }

  void draw_cotangents() {
    for (const Var& output : function_()) {
      Tensor cotangent = Tensor::empty(output.shape(), DType::f64);
      for (Index i = 0; i < cotangent.numel(); ++i)
        cotangent.set(i, draw_.uniform(0.5, 1.5) * (draw_.below(2) ? 1 : -1));
      cotangents_.push_back(std::move(cotangent));
    }
  }

  void choose_elements(Argument& argument) {
    argument.elements.resize(static_cast<std::size_t>(argument.var.numel()));
    std::iota(argument.elements.begin(), argument.elements.end(), Index{0});
    if (options_.elements_per_input == 0) return;
    for (std::size_t i = argument.elements.size(); i > 1; --i)
      std::swap(argument.elements[i - 1],
                argument.elements[static_cast<std::size_t>(draw_.below(static_cast<Index>(i)))]);
    if (static_cast<Index>(argument.elements.size()) > options_.elements_per_input)
      argument.elements.resize(static_cast<std::size_t>(options_.elements_per_input));
  }

  Difference difference(const Tensor& x, Index i) {
    const double at = x.at(i), h = 6e-6 * std::max(1.0, std::abs(at));
    const auto moved = [&](double steps) {
      x.set(i, at + steps * h);
      return f();
    };
    const Difference d = central({moved(-2), moved(-1), moved(1), moved(2)}, h);
    x.set(i, at);
    return d;
  }

  // From f at -2h, -h, h and 2h. A kink anywhere within (-h, h) parts the slopes outside of it by the whole jump of f',
  // where those of a smooth function differ by 3 h f'' (5e-5 for a curvature near 1) and by rounding.
  Difference central(const std::array<double, 4>& f, double h) const {
    const double left = (f[1] - f[0]) / h, right = (f[3] - f[2]) / h;
    const double noise = 1e-13 * std::max(1.0, std::abs(f0_)) / h;
    const bool kink = std::abs(right - left) > 2e-3 * std::max({1.0, std::abs(right), std::abs(left)}) + noise;
    return {(f[2] - f[1]) / (2 * h), h, kink};
  }

  // Draws elements again until no kink lies within any difference, and keeps the differences.
  bool leave_kinks() {
    for (int attempt = 0; attempt < 20; ++attempt) {
      f0_ = f();
      bool moved = false;
      differences_.assign(arguments_.size(), {});
      for (std::size_t a = 0; a < arguments_.size(); ++a) {
        for (Index i : arguments_[a].elements) {
          differences_[a].push_back(difference(arguments_[a].var.value(), i));
          if (!differences_[a].back().kink) continue;
          const auto& argument = arguments_[a];
          const double x = argument.var.value().at(i);
          argument.var.value().set(i, argument.low < argument.high ? draw_.uniform(argument.low, argument.high)
                                                                   : x + draw_.uniform(-.1, .1));
          ++report_.kinks;
          moved = true;
        }
      }
      if (!moved) return true;
    }
    report_.message = fmt::format("{}: a smooth point must be found in 20 draws; every one was at a kink", name_);
    return false;
  }

  std::vector<Tensor> analytic() {
    Tape tape;
    const std::vector<Var> outputs = function_();
    Gradients gradients = tape.backward(outputs, cotangents_);
    std::vector<Tensor> result;
    for (const auto& argument : arguments_) result.push_back(gradients[argument.var]);
    return result;
  }

  void note(double a, double n, double floor, const std::string& where) {
    const double error = std::abs(a - n) / std::max({std::abs(a), std::abs(n), floor});
    ++report_.checked;
    // A NaN compares false with everything and must not pass for that.
    if (error <= report_.worst && !report_.message.empty()) return;
    report_.worst = std::isnan(error) ? HUGE_VAL : std::max(error, report_.worst);
    report_.message =
        fmt::format("{}: {}: backward gives {:.10g}, the difference {:.10g}, error {:.2g}", name_, where, a, n, error);
  }

  double noise_floor(double step) const {
    return std::max(1e-8, 2e-15 * std::max(1.0, std::abs(f0_)) / (step * options_.tolerance));
  }

  void compare_elements(std::size_t a, const Tensor& gradient) {
    double largest = 0;
    for (double g : gradient.values()) largest = std::max(largest, std::abs(g));
    const Argument& argument = arguments_[a];
    for (std::size_t e = 0; e < argument.elements.size(); ++e) {
      const Difference& d = differences_[a][e];
      note(gradient.at(argument.elements[e]), d.derivative, std::max(1e-3 * largest, noise_floor(d.step)),
           fmt::format("argument {} ({}) of shape {}, element {}", a, argument.var.leaf()->name, argument.var.shape(),
                       argument.elements[e]));
    }
  }

  // Along a random direction v through all arguments at once: d/dt f(x + t v) = <gradient, v>.
  void compare_direction(const std::vector<Tensor>& gradients) {
    std::vector<Tensor> start;
    for (const auto& argument : arguments_) start.push_back(argument.var.value().clone());
    const double h = 6e-6;
    for (int attempt = 0; attempt < 20; ++attempt) {
      double expected = 0, largest = 0;
      std::vector<Tensor> direction;
      for (std::size_t a = 0; a < arguments_.size(); ++a) {
        direction.push_back(Tensor::empty(start[a].shape(), DType::f64));
        for (Index i = 0; i < start[a].numel(); ++i) {
          const double v = draw_.uniform(-1, 1), g = gradients[a].at(i);
          direction[a].set(i, v);
          expected += v * g;
          largest = std::max(largest, std::abs(g));
        }
      }
      const auto along = [&](double steps) { return f_along(start, direction, steps * h); };
      const Difference d = central({along(-2), along(-1), along(1), along(2)}, h);
      f_along(start, direction, 0);
      if (!d.kink) {
        note(expected, d.derivative, std::max(1e-3 * largest, noise_floor(h)), "a direction through all");
        return;
      }
      ++report_.kinks;
    }
    report_.worst = HUGE_VAL;
    report_.message = fmt::format("{}: a direction without kinks must be found in 20 draws; none was", name_);
  }

  double f_along(const std::vector<Tensor>& start, const std::vector<Tensor>& direction, double t) {
    for (std::size_t a = 0; a < arguments_.size(); ++a)
      for (Index i = 0; i < start[a].numel(); ++i)
        arguments_[a].var.value().set(i, start[a].at(i) + t * direction[a].at(i));
    return f();
  }

  std::string name_;
  std::vector<Argument> arguments_;
  Function function_;
  GradcheckOptions options_;
  Draw draw_;
  double f0_ = 0;
  std::vector<Tensor> cotangents_;
  std::vector<std::vector<Difference>> differences_;
  GradcheckReport report_;
};

}  // namespace

GradcheckReport gradcheck(const GradcheckCase& check, const GradcheckOptions& options) {
  core::flush_denormals();
  Draw draw(options.seed);
  std::vector<Argument> arguments;
  std::vector<Var> vars;
  for (std::size_t i = 0; i < check.inputs.size(); ++i) {
    const CheckInput& input = check.inputs[i];
    Tensor x = Tensor::empty(input.shape, DType::f64);
    for (Index e = 0; e < x.numel(); ++e) x.set(e, draw.uniform(input.low, input.high));
    vars.push_back(watch(std::move(x), fmt::format("input {}", i)));
    arguments.push_back({vars.back(), input.low, input.high, {}});
  }
  return Checker(
             check.name, std::move(arguments), [&] { return check.function(vars); }, options)
      .run();
}

GradcheckReport gradcheck(const std::string& name, const std::vector<Var>& leaves, const Function& function,
                          const GradcheckOptions& options) {
  core::flush_denormals();
  std::vector<Argument> arguments;
  for (const Var& leaf : leaves) {
    require(leaf.leaf() != nullptr && leaf.dtype() == DType::f64,
            "gradcheck: {}: arguments must be f64 leaves; given {} {}", name, tapestry::name(leaf.dtype()),
            leaf.leaf() ? leaf.leaf()->name : "a value that is none");
    arguments.push_back({leaf, 0, 0, {}});
  }
  return Checker(name, std::move(arguments), function, options).run();
}

}  // namespace tapestry
