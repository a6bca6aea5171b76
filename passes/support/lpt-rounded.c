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

/* Widens @r to the interval that @x was rounded to, all inputs of a Concat; its step is < 0 before the first. */
static gboolean
widen (const LptValue *x,
       const gint64   *levels,
       guint          *left,
       LptRounded     *r)
{
  LptNode *node = x->producer;
  const guint n = node->op == LPT_OP_CONCAT ? node->n_in : 1;
  double low, high, step;
  guint i = 0;

  if (node->op == LPT_OP_FAKE_QUANTIZE)
    {
      const gint64 own = LPT_ATTRS (node, LptFakeQuantizeAttrs)->levels;

      if (own <= levels[0] || own > levels[1] || !number (node, 3, &low) || !number (node, 4, &high) || low >= high)
        return FALSE;
      step = (high - low) / (double) (own - 1);
      r->step = r->step < 0 || r->step == step ? step : 0;
      r->lo = MIN (r->lo, low);
      r->hi = MAX (r->hi, high);
      return TRUE;
    }
  if (*left == 0 || !(node->info->flags & LPT_OP_F_PRESERVES) || node->n_in == 0)
    return FALSE;
  (*left)--;
  while (i < n && node->in[i].value != NULL && widen (node->in[i].value, levels, left, r))
    i++;

  return i == n;
}

gboolean
lpt_rounded_find (const LptValue *x,
                  gint64          above,
                  gint64          levels,
                  LptRounded     *rounded)
{
  guint left = MAX_MOVES;

  *rounded = (LptRounded) { 0, 0, -1 };

  return widen (x, (const gint64[]) { above, levels }, &left, rounded) && isfinite (rounded->hi - rounded->lo) &&
         rounded->hi - rounded->lo > 1e-30;
}

LptValue *
lpt_rounded_add (LptRewriter *rw,
                 LptValue    *x,
                 const char  *name,
                 double       lo,
                 double       step,
                 double       shift)
{
  static const char *const ends[4] = { "/input_low", "/input_high", "/low", "/high" };
  const double end[4] = { lo + shift, lo + shift + 255 * step, lo, lo + 255 * step };
  const guint first = shift != 0 ? 0 : 2;
  LptValue *in[5] = { x };
  LptNode *fq;

  for (guint i = first; i < 4; i++)
    {
      g_autofree char *of = g_strconcat (name, ends[i], NULL);

      in[i + 1] = lpt_rewriter_const (rw, of, lpt_tensor_scalar (LPT_DTYPE_F32, end[i]));
    }
  for (guint i = 0; i < first; i++)
    in[i + 1] = in[i + 3];
  fq = lpt_graph_add (lpt_rewriter_graph (rw), LPT_OP_FAKE_QUANTIZE, 0, name, 5, in);
  LPT_ATTRS (fq, LptFakeQuantizeAttrs)->levels = 256;

  return lpt_node_out (lpt_rewriter_infer (rw, fq));
}
