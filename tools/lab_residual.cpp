// tapestry lab residual: what "Add & Norm" is there for. A deep stack of encoder blocks with and without its residual
// connections, with and without its norms (He et al. 2016; Ba et al. 2016; Vaswani et al. 2017, section 5.4 and
// figure 1).

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "autograd/elementwise.h"
#include "autograd/loss.h"
#include "core/files.h"
#include "core/workers.h"
#include "nn/positional_encoding.h"
#include "nn/transformer_layers.h"
#include "optim/clip.h"
#include "optim/optimizer.h"
#include "tools/lab.h"
#include "tools/line_chart.h"
#include "tools/options.h"
#include "tools/table.h"

namespace tapestry {
namespace {

// The task: words of a sequence, to be said in reverse order. Position i has to hear position length - 1 - i.
constexpr Index words = 12, length = 8, batch = 16, width = 32, heads = 4;

struct Variant {
  const char* name;
  bool residual, norm;
};
constexpr std::array<Variant, 4> variants{{{"residual and norm", true, true},
                                           {"no residual", false, true},
                                           {"no norm", true, false},
                                           {"neither", false, false}}};

struct ResidualCommand {
  Index depth = 8, updates = 1000;
  double lr = 2e-3;
  std::uint64_t seed = 1;
  int threads = 1;
  bool json = false;
  std::string out;
};

/// Embeddings, positions, the stack of blocks and an output layer, with what is needed to train them.
class Stack {
 public:
  Stack(const ResidualCommand& command, Index depth, const Variant& variant)
      : store_(DType::f32, command.seed),
        embedding_(Scope(store_) / "embedding", words, width),
        positions_(PositionalEncoding(width, DType::f32)(0, length)),
        out_(Scope(store_) / "out", width, words) {
    TransformerOptions options{width, 2 * width, heads, depth};
    options.dropout = 0;
    options.norm = variant.norm;
    options.residual = variant.residual;
    blocks_ = stack_of<EncoderLayer>(Scope(store_), options);
    gradients_ = store_.gradients();
    adam_.emplace(store_.pieces());
  }

  // The mean loss of a batch, in nats per word; its gradients are then there.
  double backward(core::Random& random) {
    const auto [source, target] = draw(random);
    Tape tape(gradients_.by_parameter);
    Var x = embedding_(source) + positions_;
    for (const EncoderLayer& block : blocks_) x = block(x, {}, Pass());
    const Var loss = cross_entropy(out_(x), target);
    tape.backward(loss);
    return loss.value().item();
  }
  void step(double lr) { adam_->step(gradients_.pieces, lr); }

  // The norm of the gradient by all parameters of a block.
  double gradient_norm(Index block) const {
    std::vector<Tensor> of_block;
    for (const Var& parameter : store_.parameters())
      if (parameter.leaf()->name.starts_with(block_name(block) + "."))
        of_block.push_back(gradients_.by_parameter.slices[static_cast<std::size_t>(parameter.leaf()->place)]);
    return total_norm(of_block);
  }

 private:
  static std::string block_name(Index number) { return fmt::format("layers.{}", number); }

  static std::pair<Ids, Ids> draw(core::Random& random) {
    std::vector<std::int32_t> source, target;
    for (Index b = 0; b < batch; ++b) {
      for (Index t = 0; t < length; ++t) source.push_back(static_cast<std::int32_t>(random.below(words)));
      target.insert(target.end(), source.rbegin(), source.rbegin() + length);
    }
    return {Ids(std::move(source), {batch, length}), Ids(std::move(target), {batch, length})};
  }

  ParameterStore store_;
  Embedding embedding_;
  Var positions_;
  Linear out_;
  std::vector<EncoderLayer> blocks_;
  ParameterStore::Gradients gradients_;
  std::optional<Adam> adam_;
};

struct Outcome {
  std::vector<double> norms;   // of the gradient by each block, at the start
  std::vector<double> losses;  // of each update's batch, before it, until one is not finite
  double last_loss;            // the mean of the last tenth of them
};

Outcome train(const ResidualCommand& command, Index depth, const Variant& variant) {
  Stack stack(command, depth, variant);
  core::Random random(command.seed, name_hash("lab residual"));  // the same batches for all
  Outcome outcome;
  for (Index update = 0; update < command.updates; ++update) {
    outcome.losses.push_back(stack.backward(random));
    if (update == 0)
      for (Index block = 0; block < depth; ++block) outcome.norms.push_back(stack.gradient_norm(block));
    if (!std::isfinite(outcome.losses.back())) break;
    stack.step(command.lr);
  }
  const std::size_t last = (outcome.losses.size() + 9) / 10;
  outcome.last_loss =
      std::accumulate(outcome.losses.end() - static_cast<std::ptrdiff_t>(last), outcome.losses.end(), 0.0) /
      static_cast<double>(last);
  return outcome;
}

/// Stacks of 1, 2, 4, ... blocks, and of all, in each variant.
struct Experiment {
  std::vector<Index> depths;
  std::vector<std::array<Outcome, variants.size()>> outcomes;  // by depth

  explicit Experiment(const ResidualCommand& command) {
    for (Index depth = 1; depth < command.depth; depth *= 2) depths.push_back(depth);
    depths.push_back(command.depth);
    outcomes.resize(depths.size());
    core::Workers workers(command.threads);
    workers.run(static_cast<Index>(depths.size() * variants.size()), [&](Index task) {
      const auto number = static_cast<std::size_t>(task), depth = number / variants.size();
      const std::size_t variant = number % variants.size();
      outcomes[depth][variant] = train(command, depths[depth], variants[variant]);
    });
  }
};

nlohmann::json to_json(const ResidualCommand& command, const Experiment& experiment) {
  nlohmann::json all = nlohmann::json::array();
  for (std::size_t i = 0; i < variants.size(); ++i) {
    nlohmann::json stacks = nlohmann::json::array();
    for (std::size_t d = 0; d < experiment.depths.size(); ++d) {
      const Outcome& outcome = experiment.outcomes[d][i];
      stacks.push_back({{"depth", experiment.depths[d]},
                        {"gradient_norms", outcome.norms},
                        {"losses", outcome.losses},
                        {"last_loss", outcome.last_loss}});
    }
    all.push_back({{"name", variants[i].name},
                   {"residual", variants[i].residual},
                   {"norm", variants[i].norm},
                   {"stacks", stacks}});
  }
  return {{"updates", command.updates},
          {"lr", command.lr},
          {"seed", command.seed},
          {"loss_of_guessing", std::log(static_cast<double>(words))},
          {"variants", all}};
}

void print(const ResidualCommand& command, const Experiment& experiment) {
  std::vector<std::vector<std::string>> norms{{"block"}}, losses{{"blocks"}};
  for (const Variant& variant : variants)
    for (auto* table : {&norms, &losses}) (*table)[0].push_back(variant.name);
  for (Index block = 0; block < command.depth; ++block) {
    norms.push_back({std::to_string(block + 1)});
    for (const Outcome& outcome : experiment.outcomes.back())
      norms.back().push_back(fmt::format("{:.1e}", outcome.norms[static_cast<std::size_t>(block)]));
  }
  for (std::size_t d = 0; d < experiment.depths.size(); ++d) {
    losses.push_back({std::to_string(experiment.depths[d])});
    for (const Outcome& outcome : experiment.outcomes[d])
      losses.back().push_back(std::isfinite(outcome.last_loss) ? fmt::format("{:.3f}", outcome.last_loss) : "diverged");
  }
  fmt::print("Norm of the gradient by the parameters of each block, at the start, in a stack of {}:\n{}\n",
             command.depth, format_table(norms, "rrrrr"));
  fmt::print(
      "Loss in nats per word in the last tenth of {} updates, by the height of the stack (guessing: {:.3f}):\n{}",
      command.updates, std::log(static_cast<double>(words)), format_table(losses, "rrrrr"));
}

std::string picture(const Experiment& experiment) {
  LineChart norms{"Gradient by the parameters of each block, at the start", "block", "norm", {}, false, true};
  LineChart losses{"Loss after training, by the height of the stack", "blocks", "loss", {}, true, true};
  LineChart training{"Training of the highest stack", "update", "loss", {}, false, true};
  const auto add = [](LineChart& chart, std::size_t variant, const std::vector<double>& y) {
    Series series{variants[variant].name, {}, y};
    for (std::size_t i = 0; i < y.size(); ++i) series.x.push_back(static_cast<double>(i + 1));
    chart.series.push_back(std::move(series));
  };
  for (std::size_t i = 0; i < variants.size(); ++i) {
    add(norms, i, experiment.outcomes.back()[i].norms);
    add(training, i, experiment.outcomes.back()[i].losses);
    Series by_depth{variants[i].name, {experiment.depths.begin(), experiment.depths.end()}, {}};
    for (const auto& outcomes : experiment.outcomes) by_depth.y.push_back(outcomes[i].last_loss);
    losses.series.push_back(std::move(by_depth));
  }
  return line_charts_svg({norms, losses, training});
}

void run(const ResidualCommand& command) {
  require_within("--depth", command.depth, 1, 100);
  require_within("--updates", command.updates, 1, 1'000'000);
  if (!(command.lr > 0)) throw UsageError(fmt::format("--lr: must be above 0; given {}", command.lr));
  const Experiment experiment(command);
  if (!command.out.empty()) write_atomically(command.out, picture(experiment));
  if (command.json) return fmt::print("{}\n", to_json(command, experiment).dump());
  print(command, experiment);
}

}  // namespace

void add_lab_residual(CLI::App& lab) {
  CLI::App& command =
      *lab.add_subcommand("residual", "A deep stack with and without residual connections and norms: gradients, loss.");
  const auto options = std::make_shared<ResidualCommand>();
  add_number(command, "--depth", options->depth, "Blocks of the highest stack (default: 8)");
  add_number(command, "--updates", options->updates, "Updates of the training (default: 1000)");
  add_number(command, "--lr", options->lr, "Learning rate of Adam (default: 0.002)");
  add_number(command, "--seed", options->seed, "Seed of parameters and sequences (default: 1)");
  add_picture(command, options->out);
  add_threads(command, options->threads);
  add_json(command, options->json);
  command.callback([options] { run(*options); });
}

}  // namespace tapestry
