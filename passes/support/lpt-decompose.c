/* lpt-decompose.c - a FakeQuantize as quantize and dequantize
 *
 *     zp = (min * oh - max * ol) / (oh - ol)      scale = (oh - ol) / (max - min)
 *
 * so that ol..oh becomes min..max and value = (q - zp) * scale. A point interval
 * (ol = oh) keeps its value in the scale: q = 1, scale = ol; q = 0 where it is 0.
 * Refused: extreme scales (lpt_step_is_extreme()).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "ir/lpt-fold.h"
#include "passes/support/lpt-decompose.h"

void
lpt_decomposition_clear (LptDecomposition *parts)
{
  g_clear_pointer (&parts->low, lpt_tensor_unref);
  g_clear_pointer (&parts->high, lpt_tensor_unref);
  g_clear_pointer (&parts->zp, lpt_tensor_unref);
  g_clear_pointer (&parts->scale, lpt_tensor_unref);
}

gboolean
lpt_step_is_extreme (double step)
{
  return !(fabs (step) >= 1e-32f && fabs (step) <= 1e32f);
}

static LptTensor *
scalar_or (const LptShape *shape,
           const float    *values)
{
  g_autoptr (LptTensor) tensor = lpt_tensor_from_f32 (shape, values, NULL);

  return tensor != NULL ? lpt_fold_scalar_if_possible (tensor) : NULL;
}

gboolean
lpt_decompose (const LptQuantizeDetails *details,
               const LptDataPrecision   *precision,
               LptDecomposition         *parts)
{
  guint n = details->n_out, i;
  g_autofree float *low = g_new (float, n);
  g_autofree float *high = g_new (float, n);
  g_autofree float *shift = g_new (float, n);
  g_autofree float *scale = g_new (float, n);
  float min = (float) precision->min, max = (float) precision->max;

  *parts = (LptDecomposition) { NULL };
  for (i = 0; i < n; i++)
    {
      float ol = details->out_low[i], oh = details->out_high[i];

      low[i] = min;
      high[i] = max;
      if (ol != oh)
        {
          if (lpt_dtype_bits (precision->dtype) >= 32)
            {
              shift[i] = (float) ((precision->min * oh - precision->max * ol) / ((double) oh - ol));
              scale[i] = (float) (((double) oh - ol) / (precision->max - precision->min));
            }
          else
            {
              shift[i] = (min * oh - max * ol) / (oh - ol);
              scale[i] = (oh - ol) / (max - min);
            }
          shift[i] += 0.0f;      /* -0 becomes +0 */
        }
      else
        {
          shift[i] = 0;
          scale[i] = ol != 0 ? ol : 1;
          low[i] = high[i] = ol != 0 ? 1 : 0;
        }
      if (lpt_step_is_extreme (scale[i]))
        return FALSE;
    }
  parts->low = scalar_or (&details->out_shape, low);
  parts->high = scalar_or (&details->out_shape, high);
  parts->scale = lpt_tensor_from_f32 (&details->out_shape, scale, NULL);
  if (precision->has_zp)
    {
      parts->zp = lpt_tensor_from_f32 (&details->out_shape, shift, NULL);
      if (parts->zp != NULL && lpt_tensor_is_zero (parts->zp))
        g_clear_pointer (&parts->zp, lpt_tensor_unref);
    }
  if (parts->low != NULL && parts->high != NULL && parts->scale != NULL)
    return TRUE;
  lpt_decomposition_clear (parts);

  return FALSE;
}

gboolean
lpt_decomposition_is_identity (const LptDecomposition *parts)
{
  return parts->zp == NULL && lpt_tensor_all_equal_to (parts->scale, 1);
}

LptNode *
lpt_quantize_rebuild (LptRewriter *rw,
                      LptNode     *fq,
                      LptTensor   *low,
                      LptTensor   *high,
                      LptDType     dtype,
                      guint64      levels)
{
  g_autofree char *low_name = g_strconcat (fq->name, "/output_low", NULL);
  g_autofree char *high_name = g_strconcat (fq->name, "/output_high", NULL);
  LptDType real = lpt_node_in (fq, 1)->dtype;
  LptValue *in[5] = { lpt_node_in (fq, 0), lpt_node_in (fq, 1), lpt_node_in (fq, 2) };
  g_autoptr (LptTensor) typed_low = lpt_tensor_convert (low, real, NULL);
  g_autoptr (LptTensor) typed_high = lpt_tensor_convert (high, real, NULL);
  LptNode *fresh;

  if (typed_low == NULL || typed_high == NULL)
    return NULL;
  in[3] = lpt_rewriter_const (rw, low_name, g_steal_pointer (&typed_low));
  in[4] = lpt_rewriter_const (rw, high_name, g_steal_pointer (&typed_high));
  fresh = lpt_layer_clone (rw, fq, 5, in, dtype);
  if (levels != 0)
    LPT_ATTRS (fresh, LptFakeQuantizeAttrs)->levels = (gint64) levels;

  return fresh;
}

gboolean
lpt_quantize_compose_interval (LptNode           *fq,
                               const LptDequant  *dq,
                               LptTensor        **low,
                               LptTensor        **high)
{
  LptTensor **ends[2] = { low, high };
  guint k;

  *low = *high = NULL;
  for (k = 0; k < 2; k++)
    {
      g_autoptr (LptTensor) end = lpt_fold_value (lpt_node_in (fq, 3 + k));

      if (end != NULL && dq->subtract != NULL)
        {
          LptTensor *shifted = lpt_fold_binary (LPT_OP_SUBTRACT, end, lpt_dequant_zp (dq), LPT_DTYPE_F32);

          lpt_tensor_unref (end);
          end = shifted;
        }
      if (end != NULL && dq->multiply != NULL)
        {
          LptTensor *scaled = lpt_fold_binary (LPT_OP_MULTIPLY, end, lpt_dequant_scale (dq), LPT_DTYPE_F32);

          lpt_tensor_unref (end);
          end = scaled;
        }
      *ends[k] = g_steal_pointer (&end);
    }
  if (*low != NULL && *high != NULL)
    return TRUE;
  g_clear_pointer (low, lpt_tensor_unref);
  g_clear_pointer (high, lpt_tensor_unref);

  return FALSE;
}

LptNode *
lpt_quantize_compose (LptRewriter      *rw,
                      LptNode          *fq,
                      const LptDequant *below)
{
  g_autoptr (LptTensor) low = NULL;
  g_autoptr (LptTensor) high = NULL;
  LptValue *tail = lpt_dequant_tail (below);
  LptNode *fresh;

  if (!lpt_quantize_compose_interval (fq, below, &low, &high))
    return NULL;
  fresh = lpt_quantize_rebuild (rw, fq, low, high, tail->dtype, 0);
  if (fresh == NULL)
    return NULL;
  lpt_node_take_name (fresh, fq, "/composed");
  lpt_rewriter_replace (rw, tail, &fresh->out[0], NULL);

  return fresh;
}
