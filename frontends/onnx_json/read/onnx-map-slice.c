/* onnx-map-slice.c - Slice: starts, ends, steps along axes, as attributes or as inputs
 *
 * ONNX moves a start that lies before the first element to it, whatever the step; Slice of the graph takes nothing
 * from there backwards, as NumPy.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-import.h"

void
lpt_onnx_map_slice_attributes (LptOnnxNode *on)
{
  LptInts starts = { 0 }, ends = { 0 }, axes = { 0 }, steps = { 0 };

  lpt_onnx_ints (on, "starts", &starts);
  lpt_onnx_ints (on, "ends", &ends);
  if (!lpt_onnx_ints (on, "axes", &axes))
    {
      lpt_ints_fill (&axes, starts.n, 0);
      for (guint i = 0; i < axes.n; i++)
        axes.v[i] = i;
    }
  lpt_ints_fill (&steps, starts.n, 1);
  lpt_onnx_set (on, 0,
                lpt_onnx_emit (on, LPT_OP_SLICE, 5, lpt_onnx_in (on, 0), lpt_onnx_i64_list (on, &starts),
                               lpt_onnx_i64_list (on, &ends), lpt_onnx_i64_list (on, &steps),
                               lpt_onnx_i64_list (on, &axes)));
  lpt_ints_clear (&starts);
  lpt_ints_clear (&ends);
  lpt_ints_clear (&axes);
  lpt_ints_clear (&steps);
}

/* The integers of a constant; FALSE: it is none. */
static gboolean
constant_ints (LptValue *value,
               LptInts  *list)
{
  LptTensor *tensor = value->producer->data;

  if (tensor == NULL)
    return FALSE;
  lpt_ints_fill (list, (guint) lpt_tensor_count (tensor), 0);
  for (guint i = 0; i < list->n; i++)
    list->v[i] = lpt_tensor_get_i64 (tensor, i);
  return TRUE;
}

/* The same where starts are computed or lengths are open: max (start, -length) where the step is below 0. */
static LptValue *
computed_starts_inside (LptOnnxNode   *on,
                        LptValue      *starts,
                        const LptInts *step,
                        LptValue      *axes)
{
  LptInts sign = { 0 }, rest = { 0 };
  LptValue *bound;

  lpt_ints_fill (&sign, step->n, 0);
  lpt_ints_fill (&rest, step->n, G_MININT64 / 2);
  for (guint i = 0; i < step->n; i++)
    if (step->v[i] < 0)
      {
        sign.v[i] = -1;
        rest.v[i] = 0;
      }
  bound = lpt_onnx_emit (on, LPT_OP_GATHER, 3, lpt_onnx_shape_of (on, lpt_onnx_in (on, 0)),
                         lpt_onnx_convert (on, axes, LPT_DTYPE_I64), lpt_onnx_i64_scalar (on, 0));
  bound = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, bound, lpt_onnx_i64_list (on, &sign));
  bound = lpt_onnx_emit (on, LPT_OP_ADD, 2, bound, lpt_onnx_i64_list (on, &rest));
  lpt_ints_clear (&sign);
  lpt_ints_clear (&rest);
  return lpt_onnx_emit (on, LPT_OP_MAXIMUM, 2, starts, bound);
}

/* Do constant @starts, where steps are below 0, say the last element, or one counted from the front? */
static gboolean
starts_from_end (LptValue      *starts,
                 const LptInts *step)
{
  LptInts start = { 0 };
  gboolean good = constant_ints (starts, &start) && start.n == step->n;

  for (guint i = 0; good && i < step->n; i++)
    good = step->v[i] > 0 || start.v[i] >= -1;
  lpt_ints_clear (&start);
  return good;
}

/* What is taken backwards starts inside: at the first element where ONNX's start lies before it, of which Slice here
 * takes nothing, as NumPy. Steps that are computed are taken as they are. */
static LptValue *
starts_inside (LptOnnxNode *on,
               LptValue    *starts,
               LptValue    *steps,
               LptValue    *axes)
{
  const LptShape *shape = &lpt_onnx_in (on, 0)->shape;
  LptInts start = { 0 }, step = { 0 }, axis = { 0 };
  gboolean changed = FALSE, known = constant_ints (steps, &step) && constant_ints (axes, &axis) && step.n == axis.n;
  gboolean back = FALSE, open = shape->rank == LPT_DYNAMIC;

  for (guint i = 0; known && i < step.n; i++)
    {
      const gint64 at = axis.v[i] < 0 && !open ? axis.v[i] + shape->rank : axis.v[i];

      back = back || step.v[i] < 0;
      open = open || at < 0 || at >= shape->rank || shape->dims[at] < 0;
    }
  open = open || starts->producer->data == NULL;
  if (known && back && open && !starts_from_end (starts, &step))
    starts = computed_starts_inside (on, starts, &step, axes);
  else if (known && constant_ints (starts, &start) && start.n == step.n && shape->rank != LPT_DYNAMIC)
    for (guint i = 0; i < start.n; i++)
      {
        const gint64 at = axis.v[i] < 0 ? axis.v[i] + shape->rank : axis.v[i];
        const gint64 length = at >= 0 && at < shape->rank ? shape->dims[at] : LPT_DYNAMIC;

        if (step.v[i] < 0 && length > 0 && start.v[i] < -length)
          {
            start.v[i] = 0;
            changed = TRUE;
          }
      }
  starts = changed ? lpt_onnx_i64_list (on, &start) : starts;
  lpt_ints_clear (&start);
  lpt_ints_clear (&step);
  lpt_ints_clear (&axis);

  return starts;
}

void
lpt_onnx_map_slice (LptOnnxNode *on)
{
  LptValue *starts = lpt_onnx_convert (on, lpt_onnx_in (on, 1), LPT_DTYPE_I64);
  LptValue *ends = lpt_onnx_convert (on, lpt_onnx_in (on, 2), LPT_DTYPE_I64);
  LptValue *axes = lpt_onnx_optional (on, 3), *steps = lpt_onnx_optional (on, 4);
  LptValue *const vectors[] = { starts, ends, axes, steps };
  LptInts list = { 0 };
  gint64 n = LPT_DYNAMIC;

  /* Their length: starts that are a slice themselves may leave it open, axes seldom do. */
  for (guint i = 0; n == LPT_DYNAMIC && i < G_N_ELEMENTS (vectors); i++)
    if (vectors[i] != NULL && vectors[i]->shape.rank == 1)
      n = vectors[i]->shape.dims[0];
  if (starts->shape.rank != 1 || n < 0 || n > LPT_MAX_RANK)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "starts is not a short vector");
      return;
    }
  if (starts->shape.dims[0] == LPT_DYNAMIC)
    starts = lpt_onnx_reshape (on, starts, 1, &n);
  if (ends->shape.rank == 1 && ends->shape.dims[0] == LPT_DYNAMIC)
    ends = lpt_onnx_reshape (on, ends, 1, &n);
  lpt_ints_fill (&list, (guint) n, 1);
  if (steps == NULL)
    steps = lpt_onnx_i64_list (on, &list);
  for (guint i = 0; i < list.n; i++)
    list.v[i] = i;
  if (axes == NULL)
    axes = lpt_onnx_i64_list (on, &list);
  lpt_ints_clear (&list);
  lpt_onnx_set (on, 0,
                lpt_onnx_emit (on, LPT_OP_SLICE, 5, lpt_onnx_in (on, 0), starts_inside (on, starts, steps, axes), ends,
                               lpt_onnx_convert (on, steps, LPT_DTYPE_I64),
                               lpt_onnx_convert (on, axes, LPT_DTYPE_I64)));
}
