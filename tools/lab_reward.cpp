// tapestry lab reward: translations that score well made likelier.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "tools/lab.h"
#include "tools/line_chart.h"
#include "tools/options.h"
#include "tools/reward.h"
#include "tools/table.h"

namespace tapestry {
namespace {

struct RewardCommand {
  RewardOptions experiment;
  std::string out;
  int threads = 1;
  bool json = false;
};

nlohmann::json to_json(const RewardGain& gain) {
  return {{"before", gain.before.bleu.score}, {"after", gain.after.bleu.score}, {"difference", gain.judged.difference},
          {"low", gain.judged.low},           {"high", gain.judged.high},       {"p_value", gain.judged.p_value}};
}

/// The mean reward of the samples in the first and in the last quarter of the updates, a block at least.
struct Trend {
  double first = 0, last = 0;
};
Trend trend(const std::vector<RewardBlock>& blocks) {
  const std::size_t quarter = std::max<std::size_t>(1, blocks.size() / 4);
  Trend mean;
  for (std::size_t i = 0; i < quarter; ++i) {
    mean.first += blocks[i].sampled / static_cast<double>(quarter);
    mean.last += blocks[blocks.size() - 1 - i].sampled / static_cast<double>(quarter);
  }
  return mean;
}

void print_json(const RewardCommand& command, const RewardExperiment& result) {
  nlohmann::json blocks = nlohmann::json::array();
  for (const RewardBlock& block : result.blocks)
    blocks.push_back({{"first", block.first},
                      {"last", block.last},
                      {"sampled", block.sampled},
                      {"greedy", block.greedy},
                      {"reward_variance", block.reward_variance},
                      {"advantage_variance", block.advantage_variance}});
  const auto [first, last] = trend(result.blocks);
  fmt::print("{}\n", nlohmann::json{{"blocks", blocks},
                                    {"sampled_first_quarter", first},
                                    {"sampled_last_quarter", last},
                                    {"greedy", to_json(result.greedy)},
                                    {"sampled", to_json(result.sampled)},
                                    {"loss_before", result.loss_before},
                                    {"loss_after", result.loss_after},
                                    {"bleu_signature", bleu_signature(result.greedy.after.scoring)},
                                    {"seed", command.experiment.seed}}
                         .dump(2));
}

// What the bootstrap makes of the difference.
const char* verdict(const BootstrapResult& judged) {
  if (judged.low > 0) return "a gain";
  return judged.high < 0 ? "a loss" : "may be chance";
}

std::vector<std::string> row(const char* name, const RewardGain& gain) {
  const BootstrapResult& judged = gain.judged;
  return {name,
          fmt::format("{:.2f}", judged.score_b),
          fmt::format("{:.2f}", judged.score_a),
          fmt::format("{:+.2f}", judged.difference),
          fmt::format("{:+.2f} to {:+.2f}", judged.low, judged.high),
          fmt::format("{:.3f}", judged.p_value),
          verdict(judged)};
}

void print(const RewardCommand& command, const RewardExperiment& result) {
  std::vector<std::vector<std::string>> table{
      {"updates", "sampled", "greedy", "variance of the reward", "of the advantage"}};
  for (const RewardBlock& block : result.blocks)
    table.push_back({fmt::format("{} to {}", block.first, block.last), fmt::format("{:.2f}", block.sampled),
                     fmt::format("{:.2f}", block.greedy), fmt::format("{:.0f}", block.reward_variance),
                     fmt::format("{:.0f}", block.advantage_variance)});
  const auto [first, last] = trend(result.blocks);
  fmt::print("{}sampled: {:.2f} in the first quarter, {:.2f} in the last\n\n", format_table(table, "lrrrr"), first,
             last);
  fmt::print("{}", format_table({{"test part, BLEU-4", "before", "after", "difference", "95 % of samples", "p", ""},
                                 row("greedy", result.greedy),
                                 row("sampled", result.sampled)},
                                "lrrrrrl"));
  fmt::print("loss {:.4f} before, {:.4f} after\n\n", result.loss_before, result.loss_after);
  fmt::print("{}, {} of cross-entropy, then {} of {} by reward, seed {}\n", counted(command.experiment.pairs, "pair"),
             counted(command.experiment.epochs, "epoch"), counted(command.experiment.updates, "update"),
             counted(command.experiment.batch, "sample"), command.experiment.seed);
}

std::string picture(const RewardExperiment& result) {
  Series sampled{"sampled translations", {}, {}}, greedy{"greedy translations", {}, {}};
  Series reward{"reward", {}, {}}, advantage{"reward - baseline", {}, {}};
  for (const RewardBlock& block : result.blocks) {
    for (Series* series : {&sampled, &greedy, &reward, &advantage})
      series->x.push_back(static_cast<double>(block.last));
    sampled.y.push_back(block.sampled);
    greedy.y.push_back(block.greedy);
    reward.y.push_back(block.reward_variance);
    advantage.y.push_back(block.advantage_variance);
  }
  return line_charts_svg({{"BLEU as the reward", "updates", "mean sentence BLEU", {sampled, greedy}},
                          {"What the baseline takes away", "updates", "variance", {reward, advantage}}});
}

void run(const RewardCommand& command) {
  core::Workers workers(command.threads);
  const RewardExperiment result = reward_experiment(command.experiment, workers);
  (command.json ? print_json : print)(command, result);
  if (!command.out.empty()) write_atomically(command.out, picture(result));
}

}  // namespace

void add_lab_reward(CLI::App& lab) {
  CLI::App& command = *lab.add_subcommand(
      "reward",
      "BLEU as the reward: a model that cross-entropy trained for a short while translates by chance, and what scores\n"
      "better than its greedy translation is made likelier.");
  const auto options = std::make_shared<RewardCommand>();
  RewardOptions& experiment = options->experiment;
  add_number(command, "--pairs", experiment.pairs, "Pairs of the built-in corpus to train on (default: 10000)");
  add_number(command, "--epochs", experiment.epochs, "Passes of cross-entropy through them (default: 3)");
  add_number(command, "--updates", experiment.updates, "Updates by reward (default: 400)");
  add_number(command, "--batch", experiment.batch, "Sampled translations of each (default: 64)");
  add_number(command, "--lr", experiment.lr, "Their rate (default: 0.0002)");
  add_number(command, "--seed", experiment.seed, "Seed of parameters, batches and samples (default: 1)");
  add_threads(command, options->threads);
  add_picture(command, options->out, "Draw rewards and variances");
  add_json(command, options->json);
  command.callback([options] { run(*options); });
}

}  // namespace tapestry
