/* weights.c - constant 8-bit weights of products
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "executor/operators/weights.h"
#include "ir/lpt-sum-steps.h"

gboolean
lpt_is_integer_weights (const LptProgramValue *value)
{
  return value != NULL && value->kind == LPT_STORAGE_CONST && value->array.quant != NULL &&
         (value->array.dtype == LPT_DTYPE_I8 || value->array.dtype == LPT_DTYPE_U8);
}

gboolean
lpt_reads_codes_with_weights (LptProgramOp *op)
{
  if (op->in[0] == NULL || op->in[0]->kind == LPT_STORAGE_CONST)
    return lpt_refuse (op, LPT_REMARK_CONSTANT);
  if (lpt_is_integer_weights (op->in[1]))
    return TRUE;

  return lpt_refuse (op, op->in[1] == NULL || op->in[1]->kind != LPT_STORAGE_CONST ? LPT_REMARK_COMPUTED
                                                                                   : LPT_REMARK_TYPES);
}

gboolean
lpt_weight_channels_init (LptWeightChannels     *weights,
                          const LptProgramValue *value,
                          gboolean               grouped,
                          gsize                  groups,
                          gsize                  channels)
{
  const LptQuant *quant = value->array.quant;
  const gint32 stored = value->array.dtype == LPT_DTYPE_U8 ? 128 : 0;
  gsize c;

  *weights = (LptWeightChannels) { &value->array, channels, g_new (double, channels), g_new (gint32, channels) };
  for (c = 0; c < channels; c++)
    {
      gint64 i = lpt_weighted_parameter (quant, grouped ? 0 : -2, (gint64) groups, (gint64) (channels / groups),
                                           (gint64) c);

      if (i < 0)
        {
          lpt_weight_channels_clear (weights);
          return FALSE;
        }
      weights->scale[c] = quant->scale[i];
      weights->zero[c] = quant->zero_point[i] - stored;
    }

  return TRUE;
}

void
lpt_weight_channels_clear (LptWeightChannels *weights)
{
  g_clear_pointer (&weights->scale, g_free);
  g_clear_pointer (&weights->zero, g_free);
}

double
lpt_fold_zero_points (LptEpilogue             *e,
                      const LptSumChannels    *sums,
                      gsize                    channels,
                      const LptWeightChannels *weights,
                      const LptArray          *bias,
                      LptInputZeros            zeros,
                      gsize                    taps)
{
  gboolean any = FALSE;
  double largest = 0;
  gsize n;

  for (n = 0; n < channels; n++)
    {
      gint32 zero = zeros.of[n / zeros.per], own_zero = weights != NULL ? weights->zero[n] : 0;
      gint64 own = bias != NULL ? lpt_bias_at (bias, n) : 0;
      guint32 b = (guint32) own;

      largest = MAX (largest, fabs ((double) own));
      b -= (guint32) zero * (guint32) sums->col_sum[n];
      b += (guint32) taps * (guint32) zero * (guint32) own_zero;
      sums->bias[n] = (gint32) b;
      sums->weight_zp[n] = own_zero;
      any |= own_zero != 0;
    }
  e->bias = sums->bias;
  if (any)
    e->weight_zp = sums->weight_zp;
  return lpt_accumulator_bound (taps) + largest;
}
