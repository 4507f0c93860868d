#pragma once
// Parameters by name. A layer asks a Scope for its weights; nothing is registered after the fact.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "autograd/tape.h"
#include "nn/initialise.h"

namespace tapestry {

/// Owns the parameters of a model: slices of large aligned chunks that never move, so that values, gradients and
/// moments are flat arrays without a copy.
class ParameterStore {
 public:
  explicit ParameterStore(DType dtype = DType::f32, std::uint64_t seed = 1) : dtype_(dtype), seed_(seed) {}
  ParameterStore(const ParameterStore&) = delete;  // leaves know their store by its address
  ParameterStore& operator=(const ParameterStore&) = delete;

  /// A new parameter, filled by `init` from random numbers that depend on the seed and the name alone.
  /// Errors: the name is taken.
  Var parameter(const std::string& name, const Shape& shape, const Initialiser& init);
  /// Another name for a parameter of this store (weight tying). It is saved once, under its own name.
  void tie(const std::string& name, const Var& parameter);
  /// The parameter, by its own name or a tied one. Errors: there is none.
  const Var& operator[](const std::string& name) const;

  const std::vector<Var>& parameters() const { return parameters_; }  // in the order they were asked for
  const std::map<std::string, std::string>& aliases() const { return aliases_; }
  Index elements() const;
  DType dtype() const { return dtype_; }
  std::uint64_t seed() const { return seed_; }

  /// The values as flat pieces of at most `piece_elements`: the units of work of the optimiser.
  std::vector<Tensor> pieces() const { return pieces_of(chunks_); }
  /// Zeroed gradients of all parameters: for the tape by parameter, for the optimiser in the pieces of `pieces()`.
  /// Parameters must not be added after. One such buffer for each shard.
  struct Gradients {
    GradientBuffer by_parameter;
    std::vector<Tensor> pieces;
  };
  Gradients gradients() const;

  static constexpr Index piece_elements = 1 << 15;

 private:
  struct Place {
    std::size_t chunk;
    Index offset;
  };
  static Tensor slice(const std::vector<Tensor>& chunks, const Place& place, const Shape& shape);
  std::vector<Tensor> pieces_of(const std::vector<Tensor>& chunks) const;

  DType dtype_;
  std::uint64_t seed_;
  std::vector<Tensor> chunks_;  // flat, zeroed
  std::vector<Index> used_;     // elements of each chunk that parameters have; the last chunk may have room for more
  std::vector<Var> parameters_;
  std::vector<Place> places_;
  std::map<std::string, std::size_t> index_;
  std::map<std::string, std::string> aliases_;
};

/// A place in a store: what a layer is given to make its parameters in.
class Scope {
 public:
  /// `reference` makes the layers built here compute with the composed twins of the fused ops.
  explicit Scope(ParameterStore& store, bool reference = false) : Scope(store, "", reference) {}
  /// The scope `name` inside this one.
  Scope operator/(std::string_view name) const { return Scope(*store_, full(name), reference_); }
  Var parameter(std::string_view name, const Shape& shape, const Initialiser& init) const {
    return store_->parameter(full(name), shape, init);
  }
  void tie(std::string_view name, const Var& parameter) const { store_->tie(full(name), parameter); }
  /// The random stream of this place, for dropout: a function of the name, so that layers never share one.
  std::uint64_t stream() const;
  DType dtype() const { return store_->dtype(); }
  bool reference() const { return reference_; }

 private:
  Scope(ParameterStore& store, std::string prefix, bool reference)
      : store_(&store), prefix_(std::move(prefix)), reference_(reference) {}
  std::string full(std::string_view name) const {
    return prefix_.empty() ? std::string(name) : prefix_ + "." + std::string(name);
  }
  ParameterStore* store_;
  std::string prefix_;
  bool reference_;
};

/// FNV-1a of a name: a stable 64-bit number for it.
std::uint64_t name_hash(std::string_view name);

}  // namespace tapestry
