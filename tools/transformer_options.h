#pragma once
// The sizes of a Transformer, from the hyperparameters that each source has for them.

#include "nn/transformer_layers.h"
#include "tools/oracle_case.h"

namespace tapestry {

/// Without dropout, as every case. Errors (NotImplemented): what our layers have no switch for.
TransformerOptions book_options(const OracleCase& c);
TransformerOptions torch_options(const OracleCase& c);
TransformerOptions annotated_options(const OracleCase& c);

}  // namespace tapestry
