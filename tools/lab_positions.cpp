// tapestry lab positions: what the Transformer's sines and cosines have in common with counting in binary.

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "core/files.h"
#include "nn/positional_encoding.h"
#include "tools/heat_map.h"
#include "tools/lab.h"
#include "tools/options.h"
#include "tools/position_tables.h"
#include "tools/table.h"

namespace tapestry {
namespace {

struct PositionsLab {
  Index width = 26, positions = 32, distance = 5;
  bool json = false;
  std::string out;
};

void check(const PositionsLab& lab) {
  require_within("--width", lab.width, 2, 512);
  if (lab.width % 2 != 0)
    throw UsageError(fmt::format("--width: must be even, for sines and cosines come in pairs; given {}", lab.width));
  require_within("--positions", lab.positions, 2, 512);
  require_within("--distance", lab.distance, 1, 100'000);
}

// The largest difference, over all positions t of the table and all features, of P[t + distance] and M P[t].
double rotation_error(const PositionalEncoding& encoding, const PositionsLab& lab) {
  const Tensor here = encoding(0, lab.positions), there = encoding(lab.distance, lab.positions);
  const Tensor map = position_rotation(lab.width, lab.distance);
  double largest = 0;
  for (Index t = 0; t < lab.positions; ++t)
    for (Index i = 0; i < lab.width; ++i) {
      double sum = 0;
      for (Index j = 0; j < lab.width; ++j) sum += map.at(i * lab.width + j) * here.at(t * lab.width + j);
      largest = std::max(largest, std::abs(sum - there.at(t * lab.width + i)));
    }
  return largest;
}

Tokens numbers(Index count, const std::string& name = "") {
  Tokens labels;
  for (Index i = 0; i < count; ++i) labels.push_back(name + std::to_string(i));
  return labels;
}

// -1 to 1 as 0 to 1.
Tensor shaded(const Tensor& x) {
  const Tensor y = Tensor::empty(x.shape(), DType::f64);
  for (Index i = 0; i < x.numel(); ++i) y.set(i, (x.at(i) + 1) / 2);
  return y;
}

std::string picture(const Tensor& table, const Tensor& codes) {
  HeatMapSheet sheet("Positions", "P from -1 to 1; below it binary numbers; below them the products of P's rows.");
  const Tokens rows = numbers(table.size(0));
  sheet.add({rows, numbers(table.size(1)), shaded(table)});
  sheet.add({rows, numbers(codes.size(1), "bit "), codes});
  sheet.add({rows, rows, shaded(row_products(table))});
  return sheet.svg();
}

void run(const PositionsLab& lab) {
  check(lab);
  const PositionalEncoding encoding(lab.width, DType::f64);
  const Tensor table = encoding(0, lab.positions);
  const Index bits = std::bit_width(static_cast<std::uint64_t>(lab.positions - 1));
  const double error = rotation_error(encoding, lab);
  const double ratio = std::pow(10000, 2.0 / static_cast<double>(lab.width));
  nlohmann::json json{{"width", lab.width}, {"ratio", ratio}, {"distance", lab.distance}, {"rotation_error", error}};
  std::vector<std::vector<std::string>> rows{{"features", "period", "bit", "period"}};
  for (Index i = 0; i < lab.width; i += 2) {
    const double period = 2 * std::numbers::pi / std::atan2(encoding(1, 1).at(i), encoding(1, 1).at(i + 1));
    const bool has_bit = i / 2 < 16;
    json["periods"].push_back(period);
    rows.push_back({fmt::format("{} and {}", i, i + 1), fmt::format("{:.1f}", period),
                    has_bit ? std::to_string(i / 2) : "", has_bit ? std::to_string(2 << i / 2) : ""});
  }
  const Tensor products = row_products(table);
  for (Index d = 0; d < lab.positions; ++d) json["products"].push_back(products.at(d));
  if (!lab.out.empty()) write_atomically(lab.out, picture(table, binary_codes(lab.positions, bits)));
  if (lab.json) {
    fmt::print("{}\n", json.dump(2));
    return;
  }
  fmt::print("{}", format_table(rows, "lrlr"));
  fmt::print("\nEach period is {:.3f} times the one before; those of bits double.\n", ratio);
  fmt::print("P[t + {}] is one rotation of P[t], whatever t is: largest error {:.1e}\n", lab.distance, error);
  fmt::print("P[t] . P[t + d] over D / 2 depends on d alone:");
  for (Index d = 0; d < lab.positions; d = d == 0 ? 1 : 2 * d) fmt::print(" {:.3f} ({})", products.at(d), d);
  fmt::print("\n");
}

}  // namespace

void add_lab_positions(CLI::App& lab) {
  CLI::App& command = *lab.add_subcommand(
      "positions",
      "Sines and cosines of positions beside binary numbers: the periods of both, the rotation that is a distance,\n"
      "the products of the rows. With --out a picture of all three.");
  const auto options = std::make_shared<PositionsLab>();
  add_number(command, "--width", options->width, "Features of a position (default: 26, where periods nearly double)");
  add_number(command, "--positions", options->positions, "Positions from 0 on (default: 32)");
  add_number(command, "--distance", options->distance, "Distance whose rotation is tried (default: 5)");
  add_json(command, options->json);
  add_picture(command, options->out);
  command.callback([options] { run(*options); });
}

}  // namespace tapestry
