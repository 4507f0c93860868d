#include "tools/check_case.h"

#include <algorithm>
#include <optional>

#include "autograd/elementwise.h"
#include "autograd/record.h"
#include "core/denormals.h"
#include "tools/tolerance.h"

namespace tapestry {
namespace {

Tolerance tolerance_for(const OracleEntry& entry, const std::string& array) {
  Tolerance tolerance = tolerance_of(entry.dtype);
  const bool offset = entry.variant.find("offset") != std::string::npos;
  const bool trained = entry.category == "train" && array.starts_with("out.final.");
  if (entry.dtype == DType::f32 && (offset || trained)) tolerance.relative = 1e-4;
  return tolerance;
}

// The arrays of the file whose names begin with `prefix`.
std::vector<std::string> arrays(const SafetensorsFile& file, const std::string& prefix) {
  std::vector<std::string> names;
  const auto collect = [&](const auto& map) {
    for (const auto& [name, value] : map)
      if (name.starts_with(prefix)) names.push_back(name);
  };
  collect(file.tensors);
  collect(file.integers);
  collect(file.booleans);
  return names;
}

std::string compare_outputs(const OracleCase& c, const Outputs& outputs) {
  for (const std::string& array : arrays(c.file(), "out.")) {
    const std::string name = array.substr(4);
    // Where the exact gradient of a parameter is zero, Adam makes whole steps of rounding noise.
    const bool noise =
        array.starts_with("out.final.") && std::ranges::count(c.entry().zero_gradient, "param." + array.substr(10)) > 0;
    if (noise) continue;
    std::string error;
    if (const auto expected = c.file().tensors.find(array); expected != c.file().tensors.end()) {
      const auto given = outputs.tensors.find(name);
      error = difference(array, given == outputs.tensors.end() ? Tensor() : given->second.value(), expected->second,
                         tolerance_for(c.entry(), array));
    } else {
      const auto given = outputs.ids.find(name);
      const auto integers = c.file().integers.find(array);
      error = difference(array, given == outputs.ids.end() ? Ids() : given->second,
                         integers != c.file().integers.end() ? integers->second : c.file().booleans.at(array));
    }
    if (!error.empty()) return error;
  }
  return "";
}

// dL by every leaf. An output that no leaf reaches (the sign of x) has nothing to say.
Gradients differentiate(Tape& tape, const OracleCase& c, const Outputs& outputs) {
  std::vector<Var> nodes;
  std::vector<Tensor> cotangents;
  for (const std::string& array : arrays(c.file(), "up.")) {
    const auto output = outputs.tensors.find(array.substr(3));
    require(output != outputs.tensors.end(), "{}: there is no such output", array);
    // An op that is the identity here hands its input back; the walk needs a node.
    const Var node = output->second.leaf() ? scale(output->second, 1) : output->second;
    if (!Recorder::is_node(node)) continue;
    nodes.push_back(node);
    cotangents.push_back(c.file().tensors.at(array));
  }
  return nodes.empty() ? Gradients() : tape.backward(nodes, cotangents);
}

std::string compare_gradients(OracleCase& c, const Gradients& gradients) {
  for (const std::string& array : arrays(c.file(), "grad.")) {
    const Tensor given = c.gradient(gradients, array.substr(5));
    const std::string error = difference(array, given, c.file().tensors.at(array), tolerance_for(c.entry(), array));
    if (!error.empty()) return error;
  }
  return "";
}

std::string check(const OracleEntry& entry, const Adapter& adapter, std::string& called) {
  OracleCase c(entry);
  const bool differentiates = !arrays(c.file(), "up.").empty();
  std::optional<Tape> tape;
  if (differentiates) tape.emplace();
  const Outputs outputs = adapter.compute(c);
  if (!c.called().empty()) called = c.called();
  std::string error = compare_outputs(c, outputs);
  if (error.empty() && differentiates) error = compare_gradients(c, differentiate(*tape, c, outputs));
  return error;
}

}  // namespace

const char* name(CaseStatus status) {
  switch (status) {
    case CaseStatus::passed:
      return "passed";
    case CaseStatus::failed:
      return "failed";
    default:
      return "not_implemented";
  }
}

ConformanceRow check_case(const OracleEntry& entry, const Adapter& adapter) {
  ConformanceRow row{entry.name, entry.category, entry.op, CaseStatus::passed, "", adapter.called};
  try {
    row.error = check(entry, adapter, row.called);
    if (!row.error.empty()) row.status = CaseStatus::failed;
  } catch (const NotImplemented& reason) {
    row.status = CaseStatus::not_implemented;
    row.error = reason.what();
    row.called.clear();
  } catch (const std::exception& error) {
    row.status = CaseStatus::failed;
    row.error = error.what();
  }
  return row;
}

std::vector<ConformanceRow> check_directory(const std::string& directory) {
  std::vector<ConformanceRow> rows;
  for (const OracleEntry& entry : read_oracle_index(directory)) {
    if (const Adapter* adapter = find_adapter(entry.op)) {
      rows.push_back(check_case(entry, *adapter));
    } else {
      rows.push_back({entry.name, entry.category, entry.op, CaseStatus::not_implemented, "no adapter", ""});
    }
  }
  for (ConformanceRow& row : check_bleu(directory)) rows.push_back(std::move(row));
  return rows;
}

}  // namespace tapestry
