#pragma once
// A case of the oracle: inputs and parameters in, expected outputs and gradients beside them.

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/safetensors.h"
#include "nn/store.h"
#include "tools/parameter_names.h"

namespace tapestry {

/// One line of an index.jsonl: what a file holds and which function of it is meant.
struct OracleEntry {
  std::string path;                   // of the safetensors file
  std::string name;                   // the file within its folder, without the extension
  std::string op, category, variant;  // `variant` tells the cases of an op apart
  DType dtype = DType::f64;
  nlohmann::json hyper;
  std::string notes;
  std::vector<std::string> inputs, outputs;  // without "in." and "out.", in the order of the arguments
  std::vector<std::string> arrays;           // every name the file must hold
  std::vector<std::string> zero_gradient;    // parameters whose exact gradient is zero
};

/// The lines of `directory`/index.jsonl. Errors, in one line: no such file, `file:line:` a line that is not such an
/// object.
std::vector<OracleEntry> read_oracle_index(const std::string& directory);

/// What an adapter says when the library has no way to compute a case. Such a case has not failed.
struct NotImplemented : Error {
  using Error::Error;
};

/// The arrays of a case, as the adapter of its op needs them. Floating inputs and parameters are leaves, each always
/// the same one, so that the harness can ask for the gradient by it.
class OracleCase {
 public:
  /// Reads the file. Errors: it cannot be read, or lacks an array that the index names.
  explicit OracleCase(const OracleEntry& entry);

  const OracleEntry& entry() const { return entry_; }
  DType dtype() const { return entry_.dtype; }
  const SafetensorsFile& file() const { return file_; }
  bool has(const std::string& array) const;

  /// The array `in.NAME`; a constant if the name begins with "const_". Errors: there is none.
  Var in(const std::string& name) { return leaf("in." + name); }
  /// The same for integers and booleans.
  Ids ids(const std::string& name) const;
  /// The same, of a shape that is needed. Errors: another shape.
  Ids ids(const std::string& name, const Shape& shape) const;
  /// The array `param.NAME`, or an absent Var.
  Var param(const std::string& name) { return has("param." + name) ? leaf("param." + name) : Var(); }

  /// A place for the layers and models of this case to make their parameters in; `load` then gives them the values
  /// `param.*`, whose names the rules turn into ours. Errors: a name or a shape that differs. Biases the file has not
  /// are zero.
  Scope scope() { return Scope(store_); }
  void load(NameRules names = {});
  const ParameterStore& store() const { return store_; }
  /// The current value of the parameter that the file calls NAME.
  Tensor stored(const std::string& name) const;

  /// A hyperparameter. Errors: it is missing or of another type.
  template <class T>
  T hyper(const std::string& key) const {
    require(entry_.hyper.contains(key), "hyper: {} must be given; it is not", key);
    return entry_.hyper.at(key).get<T>();
  }
  /// The same, or `fallback` where it is missing or null.
  template <class T>
  T hyper(const std::string& key, const T& fallback) const {
    return given(key) ? entry_.hyper.at(key).get<T>() : fallback;
  }
  bool given(const std::string& key) const { return entry_.hyper.contains(key) && !entry_.hyper.at(key).is_null(); }

  /// A number as a constant of the case's dtype.
  Var constant(double value) const { return Var(Tensor::scalar(value, dtype())); }

  /// What `gradients` hold for `grad.ARRAY`: of an array asked for before, or of a parameter of the store.
  Tensor gradient(const Gradients& gradients, const std::string& array);

  /// Says what computed this case, where that is not what its adapter usually calls.
  void say_called(std::string called) { called_ = std::move(called); }
  const std::string& called() const { return called_; }

 private:
  Var leaf(const std::string& array);

  OracleEntry entry_;
  SafetensorsFile file_;
  std::map<std::string, Var> leaves_;
  ParameterStore store_;
  NameRules names_;
  std::string called_;
};

/// The outputs of a case, by name.
struct Outputs {
  std::map<std::string, Var> tensors;
  std::map<std::string, Ids> ids;

  Outputs() = default;
  /// The one output of most ops, `y`.
  Outputs(Var y) : tensors{{"y", std::move(y)}} {}
  Outputs(std::initializer_list<std::pair<const std::string, Var>> list) : tensors(list) {}
};

}  // namespace tapestry
