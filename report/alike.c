/* alike.c - what constants say of two ops that may be the same one of two graphs
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/alike.h"

#include <math.h>

/* The constant behind input @port, as it is stored. */
static LptTensor *
stored_const (const LptNode *node, guint port)
{
  const LptNode *from = port < node->n_in ? lpt_node_src ((LptNode *) node, port) : NULL;
  for (guint steps = 0; from != NULL && steps < 8; steps++)
    {
      if (from->data != NULL)
        return from->data;
      from = from->n_in > 0 ? lpt_node_src ((LptNode *) from, 0) : NULL;
      if (from != NULL && from->op == LPT_OP_PARAMETER)
        return NULL;
    }
  return NULL;
}

double
lpt_weights_alike (const LptNode *a, const LptNode *b)
{
  LptTensor *x = stored_const (a, 1), *y = stored_const (b, 1);
  if (x == NULL || y == NULL || !lpt_shape_equal (lpt_tensor_shape (x), lpt_tensor_shape (y)) || lpt_tensor_count (x) < 8)
    return NAN;
  gint64 n = lpt_tensor_count (x), step = MAX (n / 4096, 1), k = 0;
  double sx = 0, sy = 0, xx = 0, yy = 0, xy = 0;
  for (gint64 i = 0; i < n; i += step, k++)
    {
      double u = lpt_tensor_get_f64 (x, i), v = lpt_tensor_get_f64 (y, i);
      sx += u;
      sy += v;
      xx += u * u;
      yy += v * v;
      xy += u * v;
    }
  double vx = xx - sx * sx / (double) k, vy = yy - sy * sy / (double) k;
  return vx > 0 && vy > 0 ? (xy - sx * sy / (double) k) / sqrt (vx * vy) : NAN;
}

/* Two numbers of an order, of indices, of bounds: from the end, or beyond it, they may be the same in another way. */
static gboolean
numbers_differ (gint64 x, gint64 y)
{
  return x != y && x >= 0 && y >= 0 && x < G_MAXUINT16 && y < G_MAXUINT16;
}

gboolean
lpt_moves_otherwise (LptNode *a, LptNode *b)
{
  gboolean other = FALSE;
  for (guint i = 1; (a->info->flags & LPT_OP_F_PRESERVES) != 0 && i < MIN (a->n_in, b->n_in) && !other; i++)
    {
      LptTensor *x = lpt_node_const_in (a, i), *y = lpt_node_const_in (b, i);
      if (x == NULL || y == NULL || !lpt_dtype_is_integer (lpt_tensor_dtype (x)) ||
          !lpt_dtype_is_integer (lpt_tensor_dtype (y)) || lpt_tensor_count (x) != lpt_tensor_count (y))
        continue;
      for (gint64 k = 0; k < lpt_tensor_count (x) && !other; k++)
        other = numbers_differ ((gint64) lpt_tensor_get_f64 (x, k), (gint64) lpt_tensor_get_f64 (y, k));
    }
  return other;
}
