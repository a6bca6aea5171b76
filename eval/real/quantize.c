/* quantize.c - Quantize, Dequantize, Requantize, Reinterpret, Table by real arithmetic
 *
 * The definition that integer kernels approximate: dequantize, compute, quantize half to even. The conversions
 * are those of the call (lpt-call.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "eval/lpt-exec-ops.h"
#include "ir/scalar/lpt-unary.h"

gboolean
lpt_run_quantize (LptCall *call,
                  GError **error)
{
  const float *x = lpt_call_f32 (call, 0, error);
  float *y = x != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;

  if (y == NULL)
    return FALSE;
  memcpy (y, x, (gsize) lpt_array_count (&call->out[0]) * sizeof (float));

  return TRUE;
}

gboolean
lpt_run_reinterpret (LptCall *call,
                     GError **error)
{
  if (call->in[0].declared != call->out[0].declared)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s cannot be seen as %s",
                   lpt_dtype_name (call->in[0].declared), lpt_dtype_name (call->out[0].declared));
      return FALSE;
    }
  if (call->in[0].dtype != call->out[0].dtype)      /* bare integers are held as real numbers */
    {
      const gint64 *x = lpt_call_i64 (call, 0, error);
      gint64 *y = x != NULL ? lpt_call_out_i64 (call, 0, error) : NULL;

      if (y == NULL)
        return FALSE;
      memcpy (y, x, (gsize) lpt_array_count (&call->out[0]) * sizeof (gint64));
      return TRUE;
    }
  memcpy (call->out[0].data, call->in[0].data,
          (gsize) lpt_array_count (&call->out[0]) * lpt_storage_size (call->out[0].dtype));

  return TRUE;
}

gboolean
lpt_run_table (LptCall *call,
               GError **error)
{
  const LptTableAttrs *attrs = LPT_ATTRS (call->node, LptTableAttrs);
  const LptOpInfo *info = lpt_op_find (attrs->function);
  LptUnaryFunc func = info != NULL ? lpt_unary_func (info->op) : NULL;
  double p[LPT_UNARY_MAX_PARAMETERS] = { 0 };
  gint64 i, count = lpt_array_count (&call->out[0]);
  const float *x;
  float *y;

  if (func == NULL || attrs->parameters.n < lpt_unary_n_parameters (info->op))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "\"%s\" with %u parameters is not a function of one input",
                   attrs->function, attrs->parameters.n);
      return FALSE;
    }
  for (i = 0; i < MIN (attrs->parameters.n, LPT_UNARY_MAX_PARAMETERS); i++)
    p[i] = attrs->parameters.v[i];

  x = lpt_call_f32 (call, 0, error);
  y = x != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  if (y == NULL)
    return FALSE;
  for (i = 0; i < count; i++)
    y[i] = (float) func (x[i], p);

  return TRUE;
}
