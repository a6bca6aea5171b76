/* shift.c - can a constant in front of a rounding change a code?
 *
 *     y = round (v + B) + z,   v = M1 (q1 - z1) + M2 (q2 - z2)   or   v = M (q1 - z1) (q2 - z2)
 *
 * Operands of 8 bits give at most 2^16 values v. Where none of them lies within |B| of k + 1/2, both v and v + B are on
 * the same side of every tie, and round (v + B) = round (v) for each of them, whichever way a requant mode rounds ties:
 * B is 0. What is within |B| of a tie may round to another code, and B stays. Products take few distinct values: those
 * of |q1 - z1| |q2 - z2|, and a tie of v is one of -v.
 *
 * An int32 operand has too many values to try: its shift stays.
 *
 * And can a constant that is added to codes be taken into their zero point, where somebody reads real numbers?
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "passes/lower/lower.h"
#include "passes/support/lpt-same-code.h"

/* Above this, 2^16 values that are spread evenly have a tie within reach all but surely: not tried. */
#define TRIED 1e-3

/* Distance of @v to the nearest k + 1/2. */
static double
tie_distance (double v)
{
  const double beyond = v - 0.5;

  return fabs (beyond - rint (beyond));
}

static gboolean
channel_shows (const LptValue *const  in[2],
               gboolean               product,
               const double           factor[2],
               guint                  c,
               double                 shift)
{
  gint32 zero[2];
  guint i;

  for (i = 0; i < 2; i++)
    zero[i] = in[i]->quant->zero_point[in[i]->quant->n == 1 ? 0 : c];
  for (gint a = (gint) lpt_dtype_min (in[0]->dtype); a <= (gint) lpt_dtype_max (in[0]->dtype); a++)
    for (gint b = (gint) lpt_dtype_min (in[1]->dtype); b <= (gint) lpt_dtype_max (in[1]->dtype); b++)
      {
        const double v = product ? factor[0] * (a - zero[0]) * (b - zero[1])
                                 : factor[0] * (a - zero[0]) + factor[1] * (b - zero[1]);

        if (tie_distance (v) <= shift)
          return TRUE;
      }

  return FALSE;
}

gboolean
lpt_shift_shows (LptOp           op,
                 LptValue *const in[2],
                 const LptCodes *codes,
                 guint           n,
                 const double   *shift)
{
  const LptValue *const operands[2] = { in[0], in[1] };
  guint i, c;

  for (c = 0; c < n; c++)
    if (fabs (shift[c]) > TRIED)
      return TRUE;
  for (i = 0; i < 2; i++)
    if (in[i]->quant == NULL || (in[i]->dtype != LPT_DTYPE_U8 && in[i]->dtype != LPT_DTYPE_I8))
      return n > 0;
  for (c = 0; c < n; c++)
    {
      const double step = codes->step[codes->n == 1 ? 0 : c];
      double factor[2];

      if (shift[c] == 0)
        continue;
      for (i = 0; i < 2; i++)
        factor[i] = in[i]->quant->scale[in[i]->quant->n == 1 ? 0 : c] / step;
      if (op == LPT_OP_MULTIPLY)
        factor[0] *= factor[1] * step;
      else if (op == LPT_OP_SUBTRACT)
        factor[1] = -factor[1];
      if (channel_shows (operands, op == LPT_OP_MULTIPLY, factor, c, fabs (shift[c])))
        return TRUE;
    }

  return FALSE;
}

gboolean
lpt_loses_shift (const LptNode *node,
                 const LptForm *form,
                 guint          n,
                 const double  *shift)
{
  g_autofree double *steps = g_new (double, n + 1);
  guint c, i;

  if (form->q == NULL || lpt_dtype_bits (form->q->dtype) > 16 ||
      (node->flags & (LPT_NODE_DEQUANTIZATION | LPT_NODE_LPT_MADE | LPT_NODE_BIAS)) != 0)
    return FALSE;
  for (c = 0; c < n; c++)
    steps[c] = shift[c] / lpt_form_a (form, form->n == n ? c : 0);
  if (!lpt_are_lost_beside_codes (steps, n, form->q->dtype))
    return FALSE;
  for (i = 0; i < lpt_value_n_uses (&node->out[0]); i++)
    if ((lpt_value_use (&node->out[0], i)->node->info->flags & LPT_OP_F_QUANTIZES) == 0)
      return TRUE;

  return FALSE;
}
