/* lpt-call-bias.c - the bias of a product that is computed in real numbers
 *
 *     bias[o] = b[o]                     real numbers, codes with a quantization, and integers beside real numbers
 *     bias[o] = b[o] step x step w[o]    integers beside codes of x and w, as the integer product adds them to its sums
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-call.h"
#include "ir/lpt-sum-steps.h"

const float *
lpt_call_bias (LptCall *call, guint i, GError **error)
{
  const LptArray *in = &call->in[i], *x = &call->in[0], *w = &call->in[1];
  const float *numbers = lpt_call_f32 (call, i, error);
  if (numbers == NULL || in->quant != NULL || !lpt_dtype_is_integer (in->declared) || x->quant == NULL ||
      w->quant == NULL)
    return numbers;
  g_autoptr (LptQuant) steps = lpt_weighted_sum_steps (call->node, x->quant, w->quant, &w->shape, 0);
  const gint64 count = lpt_array_count (in);
  if (steps == NULL || (steps->n > 1 && steps->n != count))
    return numbers;
  float *bias = lpt_call_scratch (call, (gsize) count, sizeof (float), error);
  for (gint64 c = 0; bias != NULL && c < count; c++)
    bias[c] = (float) (numbers[c] * steps->scale[steps->n == 1 ? 0 : c]);
  return bias;
}
