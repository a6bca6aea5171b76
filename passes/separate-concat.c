/* passes/separate-concat.c - a Concat that needs one scale leaves narrower values their own
 *
 *     Concat (a, b)  =>  Concat (FakeQuantize (a), b)
 *
 * where the Concat is to have one scale, a was rounded to an interval less than half as wide as that of all inputs, and
 * something else reads it, too. The new FakeQuantize has 256 levels of the interval of all inputs, widened so that 0 is
 * one of them. Without it intervals are aligned over all that the Concat reads: the other readers of a would get the
 * coarse steps of b as well. What the Concat writes is as coarse as before; that input is rounded twice, by less than a
 * step of its own more.
 *
 * Left alone: an input that was not rounded to one interval.
 *
 * Golden tests: tests/golden/separate-concat/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "passes/support/lpt-rounded.h"

/* Wider than this costs more than one bit of an input. */
#define MOST 2.0

/* Does anything but one reader see @value, or what it was moved from? */
static gboolean
is_shared (const LptValue *value)
{
  for (;;)
    {
      const LptNode *node = value->producer;

      if (lpt_value_n_uses (value) > 1 || node->n_out > 1)
        return TRUE;
      if (node->op == LPT_OP_FAKE_QUANTIZE || node->op == LPT_OP_CONCAT || node->n_in == 0)
        return FALSE;
      value = node->in[0].value;
    }
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *concat)
{
  const LptGranularityRestriction *given = lpt_config_granularity (lpt_rewriter_config (rw), concat);
  g_autofree double *widths = NULL;
  double low = 0, high = 0, step, zero;
  LptRounded rounded;
  gboolean changed = FALSE;

  if (given == NULL || given->granularity != LPT_GRANULARITY_PER_TENSOR)
    return FALSE;
  widths = g_new (double, concat->n_in);
  for (guint i = 0; i < concat->n_in; i++)
    {
      if (!lpt_rounded_find (lpt_node_in (concat, i), 1, 256, &rounded))
        return FALSE;
      low = MIN (low, rounded.lo);
      high = MAX (high, rounded.hi);
      widths[i] = rounded.hi - rounded.lo;
    }
  /* As many steps below 0 as are needed, so that none of the ends is cut off. */
  zero = ceil (-low / (high - low) * 255);
  step = zero < 255 ? MAX (zero > 0 ? -low / zero : 0, high / (255 - zero)) : -low / 255;
  for (guint i = 0; i < concat->n_in; i++)
    {
      g_autofree char *name = g_strdup_printf ("%s/in%u", concat->name, i);
      LptValue *value = lpt_node_in (concat, i);

      if (high - low <= MOST * widths[i] || !is_shared (value))
        continue;
      lpt_node_set_input (concat, i, lpt_rounded_add (rw, value, name, -zero * step, step, 0));
      changed = TRUE;
    }

  return changed;
}

const LptPass lpt_pass_separate_concat = {
  .name      = "separate-concat",
  .doc       = "A Concat that needs one scale leaves narrower values their own",
  .stage     = LPT_STAGE_PREPARE,
  .roots     = LPT_ROOTS (LPT_OP_CONCAT),
  .rewrite   = rewrite,
  .exactness = LPT_ROUNDS,
};
