#pragma once
// Where the book's attention differs from the library's.

#include "autograd/var.h"
#include "core/ids.h"

namespace tapestry {

/// The library gives a query that may attend to nothing zeros; the book sets all its scores to -1e6, so that it attends
/// evenly to everything and its scores get no gradient. These put the book's rows in place of such rows; all others
/// stay what the library computed. lengths [B] or [B,Q], or absent.
///
/// Weights [B,Q,K] as the book has them.
Var book_weights(const Var& weights, const Ids& lengths);
/// The context [B,Q,D] as the book has it, given the values [B,K,D]: their mean where there is nothing to attend to.
Var book_context(const Var& context, const Var& values, const Ids& lengths);

}  // namespace tapestry
