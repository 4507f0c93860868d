#include "tools/oracle_case.h"

#include "tools/json_lines.h"

namespace tapestry {
namespace {

using Json = nlohmann::json;

// Names such as "out.y" without what they begin with.
std::vector<std::string> without_prefix(const std::vector<std::string>& names, std::string_view prefix) {
  std::vector<std::string> result;
  for (const std::string& name : names) result.push_back(name.starts_with(prefix) ? name.substr(prefix.size()) : name);
  return result;
}

std::vector<std::string> names_in(const Json& line, const char* key) {
  return line.value(key, std::vector<std::string>{});
}

OracleEntry entry_of(const std::string& directory, const Json& line) {
  OracleEntry entry;
  const auto file = line.at("file").get<std::string>();
  entry.path = directory + "/" + file;
  entry.name = file.ends_with(".safetensors") ? file.substr(0, file.rfind('.')) : file;
  entry.op = line.at("op").get<std::string>();
  entry.category = line.at("category").get<std::string>();
  entry.variant = line.value("case", "");
  const auto dtype = line.at("dtype").get<std::string>();
  require(dtype == "float32" || dtype == "float64", "dtype must be float32 or float64; given {}", dtype);
  entry.dtype = dtype == "float32" ? DType::f32 : DType::f64;
  entry.hyper = line.value("hyper", Json::object());
  require(entry.hyper.is_object(), "hyper must be an object; it is of type {}", entry.hyper.type_name());
  entry.notes = line.value("notes", "");
  entry.inputs = without_prefix(names_in(line, "inputs"), "in.");
  entry.outputs = without_prefix(names_in(line, "outputs"), "out.");
  for (const char* key : {"inputs", "params", "outputs", "upstream", "grads"})
    for (std::string& name : names_in(line, key)) entry.arrays.push_back(std::move(name));
  entry.zero_gradient = names_in(line, "zero_grad");
  return entry;
}

}  // namespace

std::vector<OracleEntry> read_oracle_index(const std::string& directory) {
  std::vector<OracleEntry> entries;
  for_each_json_line(directory + "/index.jsonl",
                     [&](const Json& line) { entries.push_back(entry_of(directory, line)); });
  return entries;
}

OracleCase::OracleCase(const OracleEntry& entry)
    : entry_(entry), file_(read_safetensors(entry.path)), store_(entry.dtype) {
  for (const std::string& array : entry.arrays)
    require(has(array), "{}: must hold what the index lists; {} is missing", entry.path, array);
}

bool OracleCase::has(const std::string& array) const {
  return file_.tensors.contains(array) || file_.integers.contains(array) || file_.booleans.contains(array);
}

Ids OracleCase::ids(const std::string& name) const {
  const std::string array = "in." + name;
  if (const auto found = file_.integers.find(array); found != file_.integers.end()) return found->second;
  const auto found = file_.booleans.find(array);
  require(found != file_.booleans.end(), "case: must have integers or booleans {}; it has not", array);
  return found->second;
}

Ids OracleCase::ids(const std::string& name, const Shape& shape) const {
  Ids found = ids(name);
  require(found.shape() == shape, "case: in.{} must be {}; given {}", name, shape.text(), found.shape().text());
  return found;
}

Var OracleCase::leaf(const std::string& array) {
  const auto known = leaves_.find(array);
  if (known != leaves_.end()) return known->second;
  const auto found = file_.tensors.find(array);
  require(found != file_.tensors.end(), "case: must have numbers {}; it has not", array);
  const bool constant = array.starts_with("in.const_");
  return leaves_[array] = constant ? Var(found->second) : watch(found->second, array);
}

void OracleCase::load(NameRules names) {
  names_ = names;
  std::map<std::string, Index> filled;  // elements of each parameter of ours
  for (const auto& [array, tensor] : file_.tensors) {
    if (!array.starts_with("param.")) continue;
    const Tensor to = stored(array.substr(6));  // an error if there is no place for it
    require_shape("case", array.c_str(), tensor, to.shape());
    to.copy_from(tensor);
    filled[place_of(array.substr(6), names_).parameter] += to.numel();
  }
  for (const Var& parameter : store_.parameters()) {
    const std::string& name = parameter.leaf()->name;
    const Index found = filled[name];
    if (found == 0 && name.find("bias") != std::string::npos)
      parameter.value().fill(0);
    else
      require(found == parameter.numel(), "case: must have the parameter {}; it has {} of {} elements", name, found,
              parameter.numel());
  }
}

Tensor OracleCase::stored(const std::string& name) const {
  const ParameterPlace place = place_of(name, names_);
  return place.rows_of(store_[place.parameter].value());
}

Tensor OracleCase::gradient(const Gradients& gradients, const std::string& array) {
  if (!array.starts_with("param.") || store_.parameters().empty()) return gradients[leaf(array)];
  const ParameterPlace place = place_of(array.substr(6), names_);
  return place.rows_of(gradients[store_[place.parameter]]);
}

}  // namespace tapestry
