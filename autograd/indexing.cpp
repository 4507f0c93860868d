#include "autograd/indexing.h"

#include "autograd/record.h"
#include "core/indexing.h"

namespace tapestry {

/// y_i = table row id_i                  dtable row id_i += dy_i
Var embedding(const Var& table, const Ids& ids) {
  require(table.rank() == 2, "embedding: the table must be [V,E]; given {}", table.shape());
  return record("embedding", core::take_rows("embedding", table.value(), 0, ids), {table},
                [ids](const Tensor& dy, Grads& dx) { core::add_rows(dx.into(0), 0, ids, dy); });
}

/// y_i = x_id_i along the axis           dx_id_i += dy_i
Var index_select(const Var& x, int axis, const Ids& ids) {
  require(ids.shape().rank() == 1, "index_select: ids must be [n]; given {}", ids.shape());
  return record("index_select", core::take_rows("index_select", x.value(), axis, ids), {x},
                [axis, ids](const Tensor& dy, Grads& dx) { core::add_rows(dx.into(0), axis, ids, dy); });
}

/// y_p = x_(p, id_p)                     dx_(p, id_p) += dy_p
Var gather(const Var& x, int axis, const Ids& ids) {
  return record("gather", core::gather("gather", x.value(), axis, ids), {x},
                [axis, ids](const Tensor& dy, Grads& dx) { core::scatter_add("gather", dx.into(0), axis, ids, dy); });
}

/// y = x, y_(p, id_p) += s_p             dx = dy, ds_p = dy_(p, id_p)
Var scatter_add(const Var& x, int axis, const Ids& ids, const Var& src) {
  require_same_dtype("scatter_add", {x.value(), src.value()});
  const Tensor y = x.value().clone();
  core::scatter_add("scatter_add", y, axis, ids, src.value());
  return record("scatter_add", y, {x, src}, [axis, ids](const Tensor& dy, Grads& dx) {
    dx.add(0, dy);
    if (dx.wants(1)) dx.add(1, core::gather("scatter_add", dy, axis, ids));
  });
}

}  // namespace tapestry
