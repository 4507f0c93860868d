#include "autograd/fused_checks.h"

#include "autograd/attention.h"
#include "autograd/convolution.h"
#include "autograd/dropout.h"
#include "autograd/layer_norm.h"
#include "autograd/loss.h"
#include "autograd/matmul.h"
#include "autograd/recurrent.h"

namespace tapestry {
namespace {

using Arguments = std::vector<Var>;

void dropout_checks(std::vector<GradcheckCase>& checks) {
  const DropoutKey key{1, 2, 3, 4, 5};
  checks.push_back(
      {"dropout", {{{2, 3, 9}}}, [=](const Arguments& in) { return Arguments{dropout(in[0], 0.4, key)}; }});
  checks.push_back(
      {"dropout/step", {{{3, 5}}}, [=](const Arguments& in) { return Arguments{dropout(in[0], 0.4, key)}; }});
}

// A cell and its sequences as functions of {x, h, w_ih, w_hh, b_ih, b_hh, c}.
struct RecurrentOp {
  std::string name;
  Index gates;
  std::function<Arguments(const Arguments&)> cell;
  std::function<RecurrentOutput(const Arguments&, const Ids&, bool)> sequence;
};

std::vector<RecurrentOp> recurrent_ops() {
  return {{"rnn", 1, [](const Arguments& in) { return Arguments{rnn_cell(in[0], in[1], in[2], in[3], in[4], in[5])}; },
           [](const Arguments& in, const Ids& lengths, bool reverse) {
             return rnn(in[0], in[1], in[2], in[3], in[4], in[5], lengths, reverse);
           }},
          {"gru", 3, [](const Arguments& in) { return Arguments{gru_cell(in[0], in[1], in[2], in[3], in[4], in[5])}; },
           [](const Arguments& in, const Ids& lengths, bool reverse) {
             return gru(in[0], in[1], in[2], in[3], in[4], in[5], lengths, reverse);
           }},
          {"lstm", 4,
           [](const Arguments& in) {
             const auto [h, c] = lstm_cell(in[0], in[1], in[6], in[2], in[3], in[4], in[5]);
             return Arguments{h, c};
           },
           [](const Arguments& in, const Ids& lengths, bool reverse) {
             return lstm(in[0], in[1], in[6], in[2], in[3], in[4], in[5], lengths, reverse);
           }}};
}

void recurrent_checks(std::vector<GradcheckCase>& checks, const RecurrentOp& op) {
  // B = 3, T = 4, I = 2, H = 5.
  const Index rows = 5 * op.gates;
  std::vector<CheckInput> cell = {{{3, 2}}, {{3, 5}}, {{rows, 2}}, {{rows, 5}}, {{rows}}, {{rows}}};
  if (op.name == "lstm") cell.push_back({{3, 5}});
  checks.push_back({op.name + "_cell", cell, op.cell});
  checks.push_back({op.name + "_cell/no_bias", {cell.begin(), cell.begin() + 4}, [=](const Arguments& in) {
                      return op.cell({in[0], in[1], in[2], in[3], {}, {}, {}});
                    }});
  std::vector<CheckInput> sequence = cell;
  sequence[0].shape = {3, 4, 2};
  const Ids lengths({4, 0, 2});
  const auto add = [&](const std::string& name, const Ids& to, bool reverse) {
    checks.push_back({op.name + "/" + name, sequence, [=](const Arguments& in) {
                        const auto [y, h_n, c_n] = op.sequence(in, to, reverse);
                        return c_n ? Arguments{y, h_n, c_n} : Arguments{y, h_n};
                      }});
  };
  for (const bool reverse : {false, true}) {
    const std::string way = reverse ? "reverse" : "forward";
    add(way, {}, reverse);
    add(way + "_lengths", lengths, reverse);
  }
  checks.push_back({op.name + "/no_state_no_bias", {sequence[0], sequence[2], sequence[3]}, [=](const Arguments& in) {
                      const auto output = op.sequence({in[0], {}, in[1], in[2], {}, {}, {}}, lengths, true);
                      return Arguments{output.y, output.h_n};
                    }});
  checks.push_back({op.name + "/last_state", sequence, [=](const Arguments& in) {
                      const auto output = op.sequence(in, lengths, false);
                      return Arguments{output.c_n ? output.c_n : output.h_n};
                    }});
}

void convolution_checks(std::vector<GradcheckCase>& checks) {
  // B = 3, T = 5, in = 2, out = 4.
  const auto add = [&](const char* name, Index kernel, const ConvolutionPlan& plan, const Ids& lengths) {
    checks.push_back({name, {{{3, 5, 2}}, {{4, 2, kernel}}, {{4}}}, [=](const Arguments& in) {
                        return Arguments{conv1d(in[0], in[1], in[2], plan, lengths)};
                      }});
  };
  add("conv1d", 3, {}, {});
  add("conv1d/same", 4, ConvolutionPlan::same(4), {});
  add("conv1d/causal_dilated", 3, ConvolutionPlan::causal(3, 2), {});
  add("conv1d/lengths", 3, ConvolutionPlan::same(3), Ids({5, 0, 2}));
  checks.push_back({"conv1d/no_bias", {{{3, 5, 2}}, {{4, 2, 3}}}, [](const Arguments& in) {
                      return Arguments{conv1d(in[0], in[1], {}, ConvolutionPlan::same(3))};
                    }});
}

void attention_checks(std::vector<GradcheckCase>& checks) {
  // B = 3, Q = 2, K = 4, A = 5, D = 6.
  const std::vector<CheckInput> inputs = {{{3, 2, 5}}, {{3, 4, 5}}, {{1, 5}}, {{3, 4, 6}}};
  const auto add = [&](const char* name, const Mask& mask, double p) {
    checks.push_back({name, inputs, [=](const Arguments& in) {
                        const auto output = additive_attention(in[0], in[1], in[2], in[3], mask, p, {1, 2, 3, 4, 5});
                        return Arguments{output.context, output.weights};
                      }});
  };
  const Ids lengths({4, 0, 2});
  add("additive_attention", {}, 0);
  add("additive_attention/lengths", Mask::lengths(lengths), 0);
  add("additive_attention/lengths_causal_dropout", Mask::lengths(lengths) & Mask::causal(), 0.3);
  checks.push_back({"additive_attention/context_only", inputs, [=](const Arguments& in) {
                      return Arguments{additive_attention(in[0], in[1], in[2], in[3], Mask::lengths(lengths)).context};
                    }});
  checks.push_back({"additive_attention/weights_only",
                    inputs,
                    [=](const Arguments& in) {
                      return Arguments{additive_attention(in[0], in[1], in[2], in[3], Mask::lengths(lengths)).weights};
                    },
                    {3}});
}

void scaled_dot_product_checks(std::vector<GradcheckCase>& checks) {
  // B = 3, Q = 2, K = 4, two heads of 3 for queries and keys and of 2 for values, in wider projections.
  const std::vector<CheckInput> inputs = {{{3, 2, 7}}, {{3, 4, 6}}, {{3, 4, 5}}};
  const auto add = [&](const char* name, const Mask& mask, double p, bool weights) {
    checks.push_back({std::string("scaled_dot_product_attention") + name, inputs, [=](const Arguments& in) {
                        const auto output = scaled_dot_product_attention({in[0], 1}, {in[1]}, {in[2], 1},
                                                                         {2, 3, 2, mask, p, {1, 2, 3, 4, 5}, weights});
                        return weights ? Arguments{output.context, output.weights} : Arguments{output.context};
                      }});
  };
  const Ids lengths({4, 0, 2});
  add("", {}, 0, false);
  add("/weights_lengths", Mask::lengths(lengths), 0, true);
  add("/lengths_causal_dropout", Mask::lengths(lengths) & Mask::causal(), 0.3, false);
  add("/dropout_weights", {}, 0.3, true);
  // Self-attention: queries, keys and values in one projection.
  checks.push_back(
      {"scaled_dot_product_attention/self", {{{2, 3, 12}}}, [](const Arguments& in) {
         return Arguments{
             scaled_dot_product_attention({in[0]}, {in[0], 4}, {in[0], 8}, {2, 2, 2, Mask::causal()}).context};
       }});
  // Beyond 64 queries they come by blocks, and of a window each block has the weights of its band alone; those of more
  // than 128 keys are not kept.
  checks.push_back(
      {"scaled_dot_product_attention/window", {{{1, 70, 2}}, {{1, 70, 2}}, {{1, 70, 2}}}, [](const Arguments& in) {
         return Arguments{
             scaled_dot_product_attention({in[0]}, {in[1]}, {in[2]},
                                          {1, 2, 2, Mask::window(5) & Mask::lengths(Ids({68})), 0.3, {1, 2, 3, 4, 5}})
                 .context};
       }});
  checks.push_back(
      {"scaled_dot_product_attention/long", {{{1, 66, 2}}, {{1, 130, 2}}, {{1, 130, 2}}}, [](const Arguments& in) {
         return Arguments{
             scaled_dot_product_attention({in[0]}, {in[1]}, {in[2]}, {1, 2, 2, Mask::window(40), 0.3, {1, 2, 3, 4, 5}})
                 .context};
       }});
}

void layer_norm_checks(std::vector<GradcheckCase>& checks) {
  const std::vector<CheckInput> inputs = {{{2, 3, 5}}, {{5}}, {{5}}};
  checks.push_back(
      {"layer_norm", inputs, [](const Arguments& in) { return Arguments{layer_norm(in[0], in[1], in[2])}; }});
  checks.push_back({"layer_norm/two_axes", {{{2, 3, 5}}, {{3, 5}}, {{3, 5}}}, [](const Arguments& in) {
                      return Arguments{layer_norm(in[0], in[1], in[2], 2, 0.1)};
                    }});
  checks.push_back({"layer_norm/no_bias", {inputs[0], inputs[1]}, [](const Arguments& in) {
                      return Arguments{layer_norm(in[0], in[1], {})};
                    }});
  checks.push_back(
      {"layer_norm/plain", {inputs[0]}, [](const Arguments& in) { return Arguments{layer_norm(in[0], {}, {})}; }});
}

void add_norm_checks(std::vector<GradcheckCase>& checks) {
  const std::vector<CheckInput> inputs = {{{2, 3, 5}}, {{2, 3, 5}}, {{5}}, {{5}}};
  checks.push_back(
      {"add_norm", inputs, [](const Arguments& in) { return Arguments{add_norm(in[0], in[1], in[2], in[3])}; }});
  checks.push_back({"add_norm/dropout", inputs, [](const Arguments& in) {
                      return Arguments{add_norm(in[0], in[1], in[2], in[3], {0.4, {1, 2, 3, 4, 5}})};
                    }});
  checks.push_back({"add_norm/plain", {inputs[0], inputs[1]}, [](const Arguments& in) {
                      return Arguments{add_norm(in[0], in[1], {}, {}, {0.4, {1, 2, 3, 4, 5}})};
                    }});
}

void linear_relu_checks(std::vector<GradcheckCase>& checks) {
  const std::vector<CheckInput> inputs = {{{2, 3, 4}}, {{5, 4}}, {{5}}};
  checks.push_back(
      {"linear_relu", inputs, [](const Arguments& in) { return Arguments{linear_relu(in[0], in[1], in[2])}; }});
  checks.push_back({"linear_relu/dropout", inputs, [](const Arguments& in) {
                      return Arguments{linear_relu(in[0], in[1], in[2], 0.4, {1, 2, 3, 4, 5})};
                    }});
  checks.push_back({"linear/rows", inputs, [](const Arguments& in) {
                      return Arguments{linear(in[0], in[1], in[2], {1, 3}), linear(in[0], in[1], {}, {3, 5})};
                    }});
}

void loss_checks(std::vector<GradcheckCase>& checks) {
  checks.push_back({"mse_loss", {{{2, 3}}, {{2, 3}}}, [](const Arguments& in) {
                      return Arguments{mse_loss(in[0], in[1]), mse_loss(in[1], in[0], Reduction::sum),
                                       mse_loss(in[0], in[1], Reduction::none)};
                    }});
  // Rows [2,3], D = 4, V = 5.
  const Ids targets({1, 4, -1, 0, -1, 2}, {2, 3});
  CrossEntropyOptions plain, all;
  plain.ignore_index = all.ignore_index = -1;
  all.label_smoothing = 0.2;
  all.class_weights = Tensor::from({0.5, 1, 2, 0.25, 3}, {5}, DType::f64);
  all.row_weights = Tensor::from({1, -2, 3, 0.5, 0, 2}, {2, 3}, DType::f64);
  for (const auto& [name, reduction] :
       {std::pair{"mean", Reduction::mean}, std::pair{"sum", Reduction::sum}, std::pair{"none", Reduction::none}}) {
    for (CrossEntropyOptions options : {plain, all}) {
      options.reduction = reduction;
      const std::string variant = std::string(name) + (options.class_weights ? "_all_options" : "");
      checks.push_back({"cross_entropy/" + variant, {{{2, 3, 5}}}, [=](const Arguments& in) {
                          return Arguments{cross_entropy(in[0], targets, options)};
                        }});
      if (reduction == Reduction::none) continue;
      checks.push_back({"linear_cross_entropy/" + variant, {{{2, 3, 4}}, {{5, 4}}, {{5}}}, [=](const Arguments& in) {
                          return Arguments{linear_cross_entropy(in[0], in[1], in[2], targets, options).objective};
                        }});
    }
  }
  checks.push_back({"linear_cross_entropy/no_bias", {{{2, 3, 4}}, {{5, 4}}}, [=](const Arguments& in) {
                      return Arguments{linear_cross_entropy(in[0], in[1], {}, targets, plain).objective};
                    }});
}

}  // namespace

std::vector<GradcheckCase> fused_checks() {
  std::vector<GradcheckCase> checks;
  dropout_checks(checks);
  for (const RecurrentOp& op : recurrent_ops()) recurrent_checks(checks, op);
  convolution_checks(checks);
  attention_checks(checks);
  scaled_dot_product_checks(checks);
  layer_norm_checks(checks);
  add_norm_checks(checks);
  linear_relu_checks(checks);
  loss_checks(checks);
  return checks;
}

}  // namespace tapestry
