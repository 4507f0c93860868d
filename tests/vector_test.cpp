#include "core/vector.h"

#include <doctest/doctest.h>

#include <limits>
#include <numeric>
#include <vector>

#include "core/functions.h"

using namespace tapestry;
using namespace tapestry::core;

namespace {

// The largest distance between f on registers and the exact function, over a grid of [low, high], in units of the last
// place of the exact value (of the smallest normal number below that).
template <class T, class F, class G>
double worst_ulp(F f, G exact, double low, double high) {
  constexpr Index n = 40001;
  std::vector<T> x(n), y(n);
  for (Index i = 0; i < n; ++i) x[i] = static_cast<T>(low + (high - low) * static_cast<double>(i) / (n - 1));
  map(n, y.data(), f, x.data());
  double worst = 0;
  for (Index i = 0; i < n; ++i) {
    const long double wanted = exact(static_cast<long double>(x[i]));
    const int exponent = std::max(std::ilogb(wanted), std::numeric_limits<T>::min_exponent);
    const long double ulp = std::ldexp(static_cast<long double>(std::numeric_limits<T>::epsilon()), exponent);
    worst = std::max(worst, static_cast<double>(std::abs(static_cast<long double>(y[i]) - wanted) / ulp));
  }
  return worst;
}

template <class F, class G>
void check_accuracy(const std::string& name, F f, G exact, double low, double high, double ulps = 4) {
  const double single = worst_ulp<float>(f, exact, low, high), twice = worst_ulp<double>(f, exact, low, high);
  CHECK_MESSAGE(single <= ulps, name << " in f32: " << single << " ulp");
  CHECK_MESSAGE(twice <= ulps, name << " in f64: " << twice << " ulp");
}

const auto infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("functions on registers are within a few units of the last place") {
    check_accuracy(
        "exp", [](auto x) { return exp(x); }, [](auto x) { return std::exp(x); }, -80, 80);
    check_accuracy(
        "log", [](auto x) { return log(x); }, [](auto x) { return std::log(x); }, 1e-6, 50);
    check_accuracy(
        "log1p", [](auto x) { return log1p(x); }, [](auto x) { return std::log1p(x); }, -0.5, 2);
    check_accuracy(
        "tanh", [](auto x) { return tanh(x); }, [](auto x) { return std::tanh(x); }, -10, 10);
    check_accuracy(
        "erf", [](auto x) { return exact_erf(x); }, [](auto x) { return std::erf(x); }, -6, 6);
    check_accuracy(
        "sqrt", [](auto x) { return sqrt(x); }, [](auto x) { return std::sqrt(x); }, 0, 100, 0.5001);
    check_accuracy(
        "sigmoid", [](auto x) { return sigmoid(x); }, [](auto x) { return 1 / (1 + std::exp(-x)); }, -80, 80);
    check_accuracy(
        "softplus", [](auto x) { return softplus(x); },
        [](auto x) { return std::max(x, 0.0L) + std::log1p(std::exp(-std::abs(x))); }, -80, 80);
    check_accuracy(
        "normal distribution", [](auto x) { return normal_distribution(x); },
        [](auto x) { return std::erfc(-x / std::sqrt(2.0L)) / 2; }, -4, 10, 64);
  }

  TEST_CASE("a value does not depend on its place") {
    const auto f = [](auto x) { return tanh(x) * sigmoid(x) + exp(-x * x); };
    std::vector<float> x(67), whole(67), piece(67);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.1f * static_cast<float>(i) - 3;
    map(67, whole.data(), f, x.data());
    for (Index begin = 0; begin < 67; ++begin)
      for (Index n : {1, 3, 16}) {
        if (begin + n > 67) continue;
        map(n, piece.data(), f, x.data() + begin);
        for (Index i = 0; i < n; ++i) CHECK(piece[i] == whole[begin + i]);
      }
  }

  TEST_CASE("NaN and infinity survive") {
    const double nan = std::nan("");
    const std::vector<double> x{nan, infinity, -infinity, 0, -0.0};
    std::vector<double> y(x.size());
    const auto run = [&](auto f) { map(static_cast<Index>(x.size()), y.data(), f, x.data()); };
    run([](auto v) { return exp(v); });
    CHECK(std::isnan(y[0]));
    CHECK(y[1] == infinity);
    CHECK(y[2] == 0);
    run([](auto v) { return tanh(v); });
    CHECK(std::isnan(y[0]));
    CHECK(y[1] == 1);
    CHECK(y[2] == -1);
    run([](auto v) { return sigmoid(v); });
    CHECK(std::isnan(y[0]));
    CHECK(y[1] == 1);
    CHECK(y[2] == 0);
    run([](auto v) { return larger(v, decltype(v)(0)); });
    CHECK(std::isnan(y[0]));
    CHECK(y[1] == infinity);
    CHECK(y[2] == 0);
    run([](auto v) { return larger(decltype(v)(0), v); });
    CHECK(std::isnan(y[0]));
    run([](auto v) { return smaller(decltype(v)(0), v); });
    CHECK(std::isnan(y[0]));
    run([](auto v) { return log(v); });
    CHECK(y[1] == infinity);
    CHECK(std::isnan(y[2]));
    CHECK(y[3] == -infinity);
    for (Index n = 1; n < 40; ++n) {
      std::vector<float> values(static_cast<std::size_t>(n), 1);
      for (auto& value : values) {
        value = std::nanf("");
        CHECK(std::isnan(fold(
            n, [](auto a, auto b) { return larger(a, b); }, values.data())));
        value = 1;
      }
    }
  }

  TEST_CASE("sum and fold see each element once, whatever the length") {
    for (Index n = 1; n < 100; ++n) {
      std::vector<float> x(static_cast<std::size_t>(n));
      std::iota(x.begin(), x.end(), 1.0f);
      CHECK(sum(n, x.data()) == static_cast<double>(n * (n + 1) / 2));
      std::vector<double> negative(x.begin(), x.end());
      for (auto& value : negative) value -= 1000;
      CHECK(fold(
                n, [](auto a, auto b) { return larger(a, b); }, negative.data()) == static_cast<double>(n - 1000));
      CHECK(fold(
                n, [](auto a, auto b) { return smaller(a, b); }, negative.data()) == -999);
      // A lambda whose value for the padding is not zero.
      CHECK(sum_of<double>(
                n, [](auto v) { return v + 1; }, negative.data()) == static_cast<double>(n * (n + 1) / 2 - 999 * n));
    }
  }

  TEST_CASE("an f32 sum is as good as its last rounding") {
    std::vector<float> x(100001);
    long double exact = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<float>(std::sin(static_cast<double>(i))) * 1e4f;
      exact += static_cast<long double>(x[i]);
    }
    CHECK(std::abs(sum(static_cast<Index>(x.size()), x.data()) - static_cast<double>(exact)) < 1e-6);
  }

  TEST_CASE_TEMPLATE("map_sum writes what map does, and adds it up, with or without a place for it", T, float, double) {
    const auto f = [](auto x) { return x * x + decltype(x)(1); };  // not zero beyond the end
    std::vector<Index> counts{32 * lanes<T> - 1, 32 * lanes<T>, 32 * lanes<T> + 1, 100 * lanes<T> + 3};
    for (Index n = 0; n < 40; ++n) counts.push_back(n);
    for (const Index n : counts) {
      std::vector<T> x(static_cast<std::size_t>(n)), y(x.size() + 1, T{-1}), expected(x.size() + 1, T{-1});
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(0.37 * static_cast<double>(i % 17));
      map(n, expected.data(), f, x.data());
      const double sum = map_sum(n, y.data(), f, x.data());
      CHECK(y == expected);
      CHECK(map_sum(n, static_cast<T*>(nullptr), f, x.data()) == sum);
      const double exact = std::accumulate(expected.begin(), expected.end() - 1, 0.0);
      CHECK(sum == doctest::Approx(exact).epsilon(sizeof(T) == 4 ? 1e-6 : 1e-14));
      CHECK(map_sum(n, x.data(), f, x.data()) == sum);  // in place
      CHECK(std::equal(x.begin(), x.end(), y.begin()));
    }
    const T nan = std::numeric_limits<T>::quiet_NaN();
    CHECK(std::isnan(map_sum(Index{1}, static_cast<T*>(nullptr), f, &nan)));
  }
}
