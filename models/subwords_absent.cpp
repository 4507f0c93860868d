// In place of subwords.cpp where the build has no SentencePiece.

#include "core/error.h"
#include "models/subwords.h"

namespace tapestry {
namespace {

[[noreturn]] void refuse() {
  throw UsageError(
      "subwords: the program must be built with SentencePiece; it is not: install libsentencepiece-dev, then meson "
      "setup "
      "--wipe build and ninja -C build");
}

}  // namespace

bool Subwords::available() {
  return false;
}

Subwords Subwords::train(const std::vector<std::string>&, Index) {
  refuse();
}

Subwords::Subwords(std::string) {
  refuse();
}

Tokens Subwords::split(std::string_view) const {
  refuse();
}

}  // namespace tapestry
