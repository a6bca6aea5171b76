/* lpt-rounded.c - intervals that values were rounded to by a FakeQuantize of one interval
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "passes/support/lpt-rounded.h"

#include <lpt/lpt-attrs.h>
#include <math.h>

#include "passes/core/lpt-rewriter.h"

/* Moves behind FakeQuantize that are looked through, all together: Concats of Concats would be walked again and
 * again. */
#define MAX_MOVES 64

static gboolean
number (LptNode *node,
        guint    i,
        double  *x)
{
  LptTensor *tensor = lpt_node_const_in (node, i);

  if (tensor == NULL || lpt_tensor_count (tensor) != 1)
    return FALSE;
  *x = lpt_tensor_get_f64 (tensor, 0);

  return isfinite (*x);
}

/* Widens [@lo, @hi] to the interval that @x was rounded to, all inputs of a Concat. */
static gboolean
widen (const LptValue *x,
       const gint64   *levels,
       guint          *left,
       double         *lo,
       double         *hi)
{
  LptNode *node = x->producer;
  const guint n = node->op == LPT_OP_CONCAT ? node->n_in : 1;
  double low, high;
  guint i = 0;

  if (node->op == LPT_OP_FAKE_QUANTIZE)
    {
      const gint64 own = LPT_ATTRS (node, LptFakeQuantizeAttrs)->levels;

      if (own <= levels[0] || own > levels[1] || !number (node, 3, &low) || !number (node, 4, &high) || low >= high)
        return FALSE;
      *lo = MIN (*lo, low);
      *hi = MAX (*hi, high);
      return TRUE;
    }
  if (*left == 0 || !(node->info->flags & LPT_OP_F_PRESERVES) || node->n_in == 0)
    return FALSE;
  (*left)--;
  while (i < n && node->in[i].value != NULL && widen (node->in[i].value, levels, left, lo, hi))
    i++;

  return i == n;
}

gboolean
lpt_rounded_find (const LptValue *x,
                  gint64          above,
                  gint64          levels,
                  double         *lo,
                  double         *hi)
{
  guint left = MAX_MOVES;

  *lo = *hi = 0;

  return widen (x, (const gint64[]) { above, levels }, &left, lo, hi) && isfinite (*hi - *lo) && *hi - *lo > 1e-30;
}

LptValue *
lpt_rounded_add (LptRewriter *rw,
                 LptValue    *x,
                 const char  *name,
                 double       lo,
                 double       step)
{
  g_autofree char *low = g_strconcat (name, "/low", NULL), *high = g_strconcat (name, "/high", NULL);
  LptValue *in[5] = { x };
  LptNode *fq;

  in[1] = in[3] = lpt_rewriter_const (rw, low, lpt_tensor_scalar (LPT_DTYPE_F32, lo));
  in[2] = in[4] = lpt_rewriter_const (rw, high, lpt_tensor_scalar (LPT_DTYPE_F32, lo + 255 * step));
  fq = lpt_graph_add (lpt_rewriter_graph (rw), LPT_OP_FAKE_QUANTIZE, 0, name, 5, in);
  LPT_ATTRS (fq, LptFakeQuantizeAttrs)->levels = 256;

  return lpt_node_out (lpt_rewriter_infer (rw, fq));
}
