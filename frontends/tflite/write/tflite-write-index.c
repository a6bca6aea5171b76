/* tflite-write-index.c - indices, shapes, ranges
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-writer.h"

#include "ir/lpt-memory.h"

static gboolean
one_axis (LptTflWriter *w, guint i, gint rank, gint64 *axis)
{
  LptInts list = { 0 };
  gboolean ok = lpt_node_ints_in (w->node, i, &list) && list.n == 1;
  if (ok)
    *axis = list.v[0] < 0 ? list.v[0] + rank : list.v[0];
  else
    lpt_tfl_w_fail (w, "an axis that is not constant");
  lpt_ints_clear (&list);
  return ok;
}

/* The indices; constant ones that count from the end of an axis of @length count from its beginning there. */
static gint
indices_of (LptTflWriter *w, gint64 length)
{
  LptTensor *known = lpt_node_const_in (w->node, 1);
  const gint64 n = known != NULL ? lpt_tensor_count (known) : 0;
  g_autofree double *values = lpt_memory_try ((gsize) n + 1, sizeof *values, &w->error);
  gboolean from_end = FALSE;
  if (values == NULL)
    return -1;
  for (gint64 i = 0; i < n; i++)
    {
      const gint64 index = lpt_tensor_get_i64 (known, i);
      from_end |= index < 0;
      values[i] = (double) (index < 0 ? index + length : index);
    }
  if (!from_end)
    return lpt_tfl_w_in (w, 1, LPT_TFL_PLAIN);
  if (length < 0)
    {
      lpt_tfl_w_fail (w, "an index that counts from the end");
      return -1;
    }
  LptTensor *fresh = lpt_tensor_from_f64 (lpt_tensor_dtype (known), lpt_tensor_shape (known), values, NULL);
  return lpt_tfl_w_const (w, lpt_node_src (w->node, 1)->name, fresh, NULL);
}

void
lpt_tfl_write_gather (LptTflWriter *w, gint64 code)
{
  gint64 axis = 0, batch = LPT_ATTRS (w->node, LptGatherAttrs)->batch_dims;
  double gauge;
  const LptShape *shape = &lpt_node_in (w->node, 0)->shape;
  gint rank = shape->rank, in[] = { lpt_tfl_w_in_free (w, 0, LPT_TFL_PLAIN, &gauge), -1 };
  if (w->error != NULL || !one_axis (w, 2, rank, &axis))
    return;
  in[1] = indices_of (w, axis >= 0 && axis < rank ? shape->dims[axis] : LPT_DYNAMIC);
  if (w->error != NULL)
    return;
  LptTflWOp *op = lpt_tfl_w_op (w, code, 2, in, lpt_tfl_w_out (w, 0, LPT_TFL_PLAIN, gauge));
  lpt_tfl_w_set (op, LPT_TFL_INT (GatherOptions, axis, axis));
  lpt_tfl_w_set (op, LPT_TFL_INT (GatherOptions, batch_dims, batch));
  lpt_tfl_w_need (op, batch != 0 ? 5 : lpt_node_out (w->node)->dtype == LPT_DTYPE_BOOL ? 3 : 1);
}

void
lpt_tfl_write_gather_nd (LptTflWriter *w, gint64 code)
{
  double gauge;
  if (LPT_ATTRS (w->node, LptGatherNDAttrs)->batch_dims != 0)
    lpt_tfl_w_fail (w, "batch dimensions");
  gint in[] = { lpt_tfl_w_in_free (w, 0, LPT_TFL_PLAIN, &gauge), lpt_tfl_w_in (w, 1, LPT_TFL_PLAIN) };
  lpt_tfl_w_op (w, code, 2, in, lpt_tfl_w_out (w, 0, LPT_TFL_PLAIN, gauge));
}

/* Along the last axis, greatest first; indices are int32. */
void
lpt_tfl_write_top_k (LptTflWriter *w, gint64 code)
{
  const LptTopKAttrs *attrs = LPT_ATTRS (w->node, LptTopKAttrs);
  LptValue *x = lpt_node_in (w->node, 0), *indices = &w->node->out[1];
  gint64 axis = attrs->axis < 0 ? attrs->axis + x->shape.rank : attrs->axis;
  double gauge;
  if (axis != x->shape.rank - 1 || attrs->mode != LPT_TOPK_MAX || attrs->sort == LPT_TOPK_SORT_INDEX)
    lpt_tfl_w_fail (w, "another order than the greatest first along the last axis");
  gint in[] = { lpt_tfl_w_in_free (w, 0, LPT_TFL_PLAIN, &gauge), lpt_tfl_w_in_i32 (w, 1) };
  LptTflWOp *op = lpt_tfl_w_op (w, code, 2, in, lpt_tfl_w_out (w, 0, LPT_TFL_PLAIN, gauge));
  gint wide = lpt_tfl_w_out (w, 1, LPT_TFL_PLAIN, 1), narrow = wide;
  if (w->error == NULL && indices->dtype != LPT_DTYPE_I32)
    narrow = lpt_tfl_w_tensor (w, "indices", LPT_DTYPE_I32, &indices->shape, NULL);
  lpt_tfl_w_add_out (op, narrow);
  if (narrow == wide)
    return;
  op = lpt_tfl_w_op (w, TFL_CAST, 1, &narrow, wide);
  lpt_tfl_w_set (op, LPT_TFL_INT (CastOptions, in_data_type, lpt_tfl_w_type (LPT_DTYPE_I32)));
  lpt_tfl_w_set (op, LPT_TFL_INT (CastOptions, out_data_type, lpt_tfl_w_type (indices->dtype)));
}

void
lpt_tfl_write_shape (LptTflWriter *w, gint64 code)
{
  double gauge;
  gint x = lpt_tfl_w_in_free (w, 0, LPT_TFL_PLAIN, &gauge);
  LptTflWOp *op = lpt_tfl_w_op (w, code, 1, &x, lpt_tfl_w_out (w, 0, LPT_TFL_PLAIN, 1));
  lpt_tfl_w_set (op, LPT_TFL_INT (ShapeOptions, out_type, lpt_tfl_w_type (lpt_node_out (w->node)->dtype)));
}

void
lpt_tfl_write_one_hot (LptTflWriter *w, gint64 code)
{
  gint64 axis = LPT_ATTRS (w->node, LptOneHotAttrs)->axis;
  gint in[4];
  if (axis < -1)      /* the last one alone may be named from behind */
    axis += lpt_node_in (w->node, 0)->shape.rank + 1;
  for (guint i = 0; i < 4; i++)
    in[i] = i == 1 ? lpt_tfl_w_in_i32 (w, i) : lpt_tfl_w_in (w, i, LPT_TFL_PLAIN);
  LptTflWOp *op = lpt_tfl_w_op (w, code, 4, in, lpt_tfl_w_out (w, 0, LPT_TFL_PLAIN, 1));
  lpt_tfl_w_set (op, LPT_TFL_INT (OneHotOptions, axis, axis));
}

void
lpt_tfl_write_range (LptTflWriter *w, gint64 code)
{
  LptDType dtype = lpt_node_out (w->node)->dtype;
  LptDType own = dtype == LPT_DTYPE_I64 ? LPT_DTYPE_I32 : dtype;
  gint in[3];
  for (guint i = 0; i < 3; i++)
    in[i] = lpt_tfl_w_cast (w, lpt_tfl_w_in (w, i, LPT_TFL_PLAIN), own);
  gint out = lpt_tfl_w_out (w, 0, LPT_TFL_PLAIN, 1);
  gint narrow = own == dtype || w->error != NULL
                    ? out
                    : lpt_tfl_w_tensor (w, "range", own, &lpt_node_out (w->node)->shape, NULL);
  lpt_tfl_w_op (w, code, 3, in, narrow);
  if (narrow == out)
    return;
  LptTflWOp *op = lpt_tfl_w_op (w, TFL_CAST, 1, &narrow, out);
  lpt_tfl_w_set (op, LPT_TFL_INT (CastOptions, in_data_type, lpt_tfl_w_type (own)));
  lpt_tfl_w_set (op, LPT_TFL_INT (CastOptions, out_data_type, lpt_tfl_w_type (dtype)));
}
