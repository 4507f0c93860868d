#include "nn/store.h"

namespace tapestry {
namespace {

constexpr Index chunk_elements = 1 << 17;
constexpr Index alignment = 16;  // elements: 64 bytes in f32

Index aligned(Index elements) {
  return (elements + alignment - 1) / alignment * alignment;
}

}  // namespace

std::uint64_t name_hash(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char c : name) hash = (hash ^ c) * 0x100000001b3;
  return hash;
}

std::uint64_t Scope::stream() const {
  return name_hash(prefix_);
}

Tensor ParameterStore::slice(const std::vector<Tensor>& chunks, const Place& place, const Shape& shape) {
  return chunks[place.chunk].rows(place.offset, place.offset + shape.numel()).reshape(shape);
}

std::vector<Tensor> ParameterStore::pieces_of(const std::vector<Tensor>& chunks) const {
  std::vector<Tensor> pieces;
  for (std::size_t c = 0; c < chunks.size(); ++c)
    for (Index begin = 0; begin < used_[c]; begin += piece_elements)
      pieces.push_back(chunks[c].rows(begin, std::min(begin + piece_elements, used_[c])));
  return pieces;
}

Var ParameterStore::parameter(const std::string& name, const Shape& shape, const Initialiser& init) {
  require(!index_.contains(name) && !aliases_.contains(name), "store: parameter names must be unique; {} exists", name);
  if (chunks_.empty() || used_.back() + shape.numel() > chunks_.back().numel()) {
    chunks_.push_back(Tensor::zeros({std::max(chunk_elements, aligned(shape.numel()))}, dtype_));
    used_.push_back(0);
  }
  places_.push_back({chunks_.size() - 1, used_.back()});
  used_.back() += aligned(shape.numel());
  const Tensor value = slice(chunks_, places_.back(), shape);
  core::Random random(seed_, name_hash(name));
  init(value, random);
  auto leaf = std::make_shared<Leaf>(Leaf{name, shape, dtype_, this, static_cast<Index>(parameters_.size())});
  index_[name] = parameters_.size();
  return parameters_.emplace_back(value, std::move(leaf));
}

void ParameterStore::tie(const std::string& name, const Var& parameter) {
  require(parameter.leaf() && parameter.leaf()->store == this, "store: {} must be tied to a parameter of this store",
          name);
  require(!index_.contains(name) && !aliases_.contains(name), "store: parameter names must be unique; {} exists", name);
  aliases_[name] = parameter.leaf()->name;
}

const Var& ParameterStore::operator[](const std::string& name) const {
  const auto alias = aliases_.find(name);
  const auto found = index_.find(alias != aliases_.end() ? alias->second : name);
  require(found != index_.end(), "store: there is no parameter {}", name);
  return parameters_[found->second];
}

Index ParameterStore::elements() const {
  Index n = 0;
  for (const Var& parameter : parameters_) n += parameter.numel();
  return n;
}

ParameterStore::Gradients ParameterStore::gradients() const {
  std::vector<Tensor> chunks;
  for (const Tensor& chunk : chunks_) chunks.push_back(Tensor::zeros(chunk.shape(), dtype_));
  Gradients gradients{{this, {}}, pieces_of(chunks)};
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    gradients.by_parameter.slices.push_back(slice(chunks, places_[i], parameters_[i].shape()));
  return gradients;
}

}  // namespace tapestry
