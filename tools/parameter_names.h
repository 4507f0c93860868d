#pragma once
// What other sources call the parameters of our layers.

#include <span>
#include <string>
#include <string_view>

#include "core/tensor.h"

namespace tapestry {

/// Where a name of a source has `theirs` in it, we say `ours`. With `third` the source's parameter is only that third
/// of the rows of ours: queries (0), keys (1) or values (2) of a projection that holds all of them.
struct NameRule {
  std::string_view theirs, ours;
  int third = -1;
};
using NameRules = std::span<const NameRule>;

/// Where in our parameters one of a source stands.
struct ParameterPlace {
  std::string parameter;
  int third = -1;

  /// The rows of our parameter, or of its gradient, that are meant. Shares memory.
  Tensor rows_of(const Tensor& parameter_or_gradient) const;
};

/// Every rule in turn, at its first occurrence.
ParameterPlace place_of(std::string name, NameRules rules);

/// The book's Transformer and its parts. `widths_differ`: its attention projects queries, keys and values of different
/// widths, for which our parameters are three.
NameRules book_names(bool widths_differ = false);
/// The Annotated Transformer's.
NameRules annotated_names();

}  // namespace tapestry
