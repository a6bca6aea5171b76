/* lpt-move.c - copying elements whatever their storage
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "ir/scalar/lpt-loop.h"
#include "eval/lpt-move.h"

/* The same codes mean the same numbers; the axis may have moved. */
static gboolean
same_codes (const LptQuant *a,
            const LptQuant *b)
{
  if (a == b)
    return TRUE;

  return a != NULL && b != NULL && a->n == b->n && memcmp (a->scale, b->scale, a->n * sizeof *a->scale) == 0 &&
         memcmp (a->zero_point, b->zero_point, a->n * sizeof *a->zero_point) == 0;
}

LptMoveForm
lpt_move_form (const LptCall *call,
               guint          first,
               guint          n)
{
  LptMoveForm form = { call->out[0].dtype, lpt_storage_size (call->out[0].dtype) };
  gboolean raw = TRUE;
  guint i, o;

  for (o = 0; o < call->n_out; o++)
    for (i = first; i < first + n; i++)
      raw = raw && (!lpt_call_has (call, i) || (lpt_array_takes_codes (&call->out[o], &call->in[i]) &&
                                                same_codes (call->in[i].quant, call->out[o].quant)));
  if (!raw)
    form = (LptMoveForm) { LPT_DTYPE_F32, sizeof (float) };

  return form;
}

gconstpointer
lpt_move_in (LptCall           *call,
             const LptMoveForm *form,
             guint              i,
             GError           **error)
{
  if (lpt_call_has (call, i) && call->in[i].dtype == form->dtype)
    return call->in[i].data;

  return lpt_call_f32 (call, i, error);
}

gpointer
lpt_move_out (LptCall           *call,
              const LptMoveForm *form,
              guint              o,
              GError           **error)
{
  if (call->out[o].dtype == form->dtype)
    return call->out[o].data;

  return lpt_call_out_f32 (call, o, error);
}

gboolean
lpt_move_one (LptCall       *call,
              LptMoveForm   *form,
              gconstpointer *from,
              gpointer      *to,
              GError       **error)
{
  *form = lpt_move_form (call, 0, 1);
  *from = lpt_move_in (call, form, 0, error);
  *to = *from != NULL ? lpt_move_out (call, form, 0, error) : NULL;

  return *to != NULL;
}

void
lpt_copy_view (gpointer        to,
               const gint64   *to_strides,
               gconstpointer   from,
               const gint64   *from_strides,
               const LptShape *shape,
               gsize           size)
{
  gint64 strides[2][LPT_MAX_RANK], i;
  LptLoop loop;

  memcpy (strides[0], to_strides, sizeof (gint64) * (gsize) shape->rank);
  memcpy (strides[1], from_strides, sizeof (gint64) * (gsize) shape->rank);
  for (lpt_loop_init (&loop, shape, 2, strides); !loop.done; lpt_loop_next (&loop))
    {
      char *t = (char *) to + loop.offset[0] * (gint64) size;
      const char *f = (const char *) from + loop.offset[1] * (gint64) size;

      if (loop.step[0] == 1 && loop.step[1] == 1)
        memcpy (t, f, (gsize) loop.inner * size);
      else
        for (i = 0; i < loop.inner; i++)
          lpt_copy_one (t + i * loop.step[0] * (gint64) size, f + i * loop.step[1] * (gint64) size, size);
    }
}

void
lpt_copy_mapped (gpointer        to,
                 const LptShape *shape,
                 gconstpointer   from,
                 gint64 *const  *maps,
                 gconstpointer   fill,
                 gsize           size)
{
  gint64 index[LPT_MAX_RANK] = { 0 }, scalar = 0, i, last = shape->rank > 0 ? shape->dims[shape->rank - 1] : 1;
  const gint64 *inner = shape->rank > 0 ? maps[shape->rank - 1] : &scalar;
  char *t = to;
  gint axis;

  if (lpt_dims_product (shape, 0, shape->rank) == 0)
    return;
  do
    {
      gint64 base = 0;

      for (axis = 0; axis < shape->rank - 1 && base >= 0; axis++)
        base = maps[axis][index[axis]] < 0 ? -1 : base + maps[axis][index[axis]];
      for (i = 0; i < last; i++, t += size)
        lpt_copy_one (t, base < 0 || inner[i] < 0 ? fill : (const char *) from + (base + inner[i]) * (gint64) size,
                      size);
    }
  while (lpt_index_next (MAX (shape->rank - 1, 0), shape->dims, index));
}

gint64 **
lpt_call_maps (LptCall        *call,
               const LptShape *in,
               const LptShape *out,
               GError        **error)
{
  gint64 **maps = lpt_call_scratch (call, LPT_MAX_RANK, sizeof (gint64 *), error);
  gint64 strides[LPT_MAX_RANK], i;
  gint axis;

  if (maps == NULL)
    return NULL;
  if (in->rank != out->rank)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "rank %d becomes %d", in->rank, out->rank);
      return NULL;
    }
  lpt_shape_strides (in, strides);
  for (axis = 0; axis < out->rank; axis++)
    {
      maps[axis] = lpt_call_scratch (call, (gsize) out->dims[axis], sizeof (gint64), error);
      if (maps[axis] == NULL)
        return NULL;
      for (i = 0; i < out->dims[axis]; i++)
        maps[axis][i] = in->dims[axis] > 0 ? i * strides[axis] : -1;
    }

  return maps;
}
