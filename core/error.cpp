#include "core/error.h"

namespace tapestry {

void fail(const std::string& message) {
  throw Error(message);
}

}  // namespace tapestry
