#include "tools/bench_profile.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "autograd/observer.h"
#include "core/kernel_clock.h"
#include "tools/bench_step.h"
#include "tools/mean_seconds.h"
#include "tools/table.h"

namespace tapestry {
namespace {

class Profile : public Observer {
 public:
  Profile() { core::KernelTimes::current() = &times_; }
  ~Profile() override { core::KernelTimes::current() = nullptr; }
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  bool wants_contributions() const override { return false; }
  void recorded(Index, const char* op, std::span<const Tensor>) override { charge(op, "forward"); }
  void walked(Index, const char* op, std::span<const Tensor>) override { charge(op, "backward"); }

  void begin() { since_ = times_, moment_ = core::seconds_now(); }
  void end() {
    charge("update", "");
    ++steps_;
  }

  std::vector<OpCost> costs() const {
    std::vector<OpCost> costs;
    for (const auto& [key, sum] : sums_) {
      OpCost cost = sum;
      for (double* x : {&cost.calls, &cost.seconds, &cost.kernels, &cost.products, &cost.operations, &cost.bytes})
        *x /= steps_;
      costs.push_back(cost);
    }
    std::sort(costs.begin(), costs.end(), [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
    return costs;
  }

 private:
  void charge(const std::string& op, const std::string& pass) {
    const double now = core::seconds_now();
    OpCost& cost = sums_.try_emplace({op, pass}, OpCost{op, pass}).first->second;
    cost.calls += 1;
    cost.seconds += now - moment_;
    cost.kernels += times_.kernels - since_.kernels;
    cost.products += times_.products - since_.products;
    cost.operations += times_.operations - since_.operations;
    cost.bytes += times_.bytes - since_.bytes;
    since_ = times_;
    moment_ = core::seconds_now();  // what the profile itself takes is nobody's
  }

  core::KernelTimes times_, since_;
  double moment_ = 0, steps_ = 0;
  std::map<std::pair<std::string, std::string>, OpCost> sums_;
};

}  // namespace

std::vector<OpCost> profile_step(const std::string& name, Index shards, bool low_memory) {
  BenchStep step(name, 1, shards, low_memory);
  mean_seconds(0.25, step);  // until caches and free lists are warm
  Profile profile;
  const ObserverScope watched(profile);
  mean_seconds(1, [&] {
    profile.begin();
    step();
    profile.end();
  });
  return profile.costs();
}

nlohmann::json to_json(const OpCost& cost) {
  return {{"op", cost.op},
          {"pass", cost.pass},
          {"calls", cost.calls},
          {"ms", cost.seconds * 1e3},
          {"products_ms", cost.products * 1e3},
          {"kernels_ms", (cost.kernels - cost.products) * 1e3},
          {"gflop", cost.operations * 1e-9},
          {"bytes", cost.bytes}};
}

std::string format_profile(const std::vector<OpCost>& costs) {
  double seconds = 0, kernels = 0, products = 0;
  for (const OpCost& cost : costs) {
    seconds += cost.seconds;
    kernels += cost.kernels;
    products += cost.products;
  }
  std::vector<std::vector<std::string>> table{
      {"op", "pass", "calls", "ms", "%", "products ms", "kernels ms", "rest ms", "GFLOP", "MB"}};
  for (const OpCost& cost : costs) {
    const auto ms = [](double x) { return fmt::format("{:.3f}", x * 1e3); };
    table.push_back({cost.op, cost.pass, fmt::format("{:.0f}", cost.calls), ms(cost.seconds),
                     fmt::format("{:.1f}", 100 * cost.seconds / seconds), ms(cost.products),
                     ms(cost.kernels - cost.products), ms(cost.seconds - cost.kernels),
                     fmt::format("{:.4f}", cost.operations * 1e-9), fmt::format("{:.2f}", cost.bytes * 1e-6)});
  }
  return fmt::format("{}a step of {:.3f} ms: matrix products {:.1f} %, other kernels {:.1f} %, the rest {:.1f} %\n",
                     format_table(table, "llrrrrrrrr"), seconds * 1e3, 100 * products / seconds,
                     100 * (kernels - products) / seconds, 100 * (seconds - kernels) / seconds);
}

}  // namespace tapestry
