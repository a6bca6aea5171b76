/* lpt-nms-rows.c - what a non-maximum suppression keeps, as its outputs have it
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-nms-rows.h"

#include <stdlib.h>

int
lpt_nms_row_compare (gconstpointer pa,
                     gconstpointer pb)
{
  const LptNmsRow *a = pa, *b = pb;

  if (a->score != b->score)
    return a->score > b->score ? -1 : 1;
  if (a->image != b->image)
    return a->image < b->image ? -1 : 1;
  if (a->label != b->label)
    return a->label < b->label ? -1 : 1;

  return a->index < b->index ? -1 : a->index > b->index;
}

void
lpt_nms_rows_sort (GArray *rows)
{
  if (rows->len > 1)
    qsort (rows->data, rows->len, sizeof (LptNmsRow), lpt_nms_row_compare);
}

gboolean
lpt_nms_rows_write (LptCall        *call,
                    const GArray   *rows,
                    const LptShape *shape,
                    GError        **error)
{
  static const LptNmsRow none = { -1, -1, -1, -1 };
  const LptShape one = { 1, { 1 } };
  gint64 *indices, *valid;
  float *scores = NULL;

  if (!lpt_call_set_shape (call, 0, shape, error) || (indices = lpt_call_out_i64 (call, 0, error)) == NULL)
    return FALSE;
  if (call->n_out > 1 &&
      (!lpt_call_set_shape (call, 1, shape, error) || (scores = lpt_call_out_f32 (call, 1, error)) == NULL))
    return FALSE;
  for (gint64 i = 0; i < shape->dims[0]; i++)
    {
      const LptNmsRow *row = i < (gint64) rows->len ? &g_array_index (rows, LptNmsRow, i) : &none;

      indices[3 * i] = row->image;
      indices[3 * i + 1] = row->label;
      indices[3 * i + 2] = row->index;
      if (scores != NULL)
        {
          scores[3 * i] = (float) row->image;
          scores[3 * i + 1] = (float) row->label;
          scores[3 * i + 2] = row->score;
        }
    }
  if (call->n_out > 2)
    {
      if (!lpt_call_set_shape (call, 2, &one, error) || (valid = lpt_call_out_i64 (call, 2, error)) == NULL)
        return FALSE;
      valid[0] = MIN ((gint64) rows->len, shape->dims[0]);
    }

  return TRUE;
}
