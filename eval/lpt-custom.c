/* lpt-custom.c - ops of plug-ins: arrays become tensors of the declared types, what the plug-in gives becomes arrays
 * again
 *
 * Codes stay codes. A result of another type or shape than was inferred is an error, never read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "eval/lpt-custom.h"

/* Output @o has the type and shape that were inferred. */
static gboolean
check_output (const LptCall *call,
              guint          o,
              LptTensor     *tensor,
              GError       **error)
{
  const LptArray *out = &call->out[o];

  if (tensor == NULL)
    g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s gave no output %u", call->node->info->name, o);
  else if (lpt_tensor_dtype (tensor) != out->declared || !lpt_shape_equal (lpt_tensor_shape (tensor), &out->shape))
    {
      g_autofree char *is = lpt_shape_to_string (lpt_tensor_shape (tensor)), *was = lpt_shape_to_string (&out->shape);

      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s gave output %u as %s[%s], inferred is %s[%s]",
                   call->node->info->name, o, lpt_dtype_name (lpt_tensor_dtype (tensor)), is,
                   lpt_dtype_name (out->declared), was);
    }
  else
    return TRUE;

  return FALSE;
}

static gboolean
take_output (LptCall   *call,
             guint      o,
             LptTensor *tensor,
             GError   **error)
{
  LptArray *out = &call->out[o], array;

  if (!check_output (call, o, tensor, error) ||
      !lpt_array_from_tensor (&array, tensor, out->declared, out->quant, error))
    return FALSE;
  memcpy (out->data, array.data, (gsize) lpt_array_count (out) * lpt_storage_size (out->dtype));
  lpt_array_clear (&array);

  return TRUE;
}

gboolean
lpt_run_custom (LptCall *call,
                GError **error)
{
  g_autoptr (GPtrArray) in = g_ptr_array_new_full (call->n_in + 1, (GDestroyNotify) lpt_tensor_unref);
  LptTensor *out[LPT_CALL_MAX_OUT] = { NULL };
  gboolean ok = TRUE;
  guint i;

  /* lpt_tensor_unref() takes NULL for inputs that are absent. */
  for (i = 0; i < call->n_in && ok; i++)
    {
      LptTensor *tensor = lpt_call_has (call, i) ? lpt_array_to_tensor (&call->in[i], call->in[i].declared, error)
                                                 : NULL;

      g_ptr_array_add (in, tensor);
      ok = tensor != NULL || !lpt_call_has (call, i);
    }
  ok = ok && call->node->info->run (call->node, (LptTensor *const *) in->pdata, out, error);
  for (i = 0; i < call->n_out; i++)
    {
      ok = ok && take_output (call, i, out[i], error);
      g_clear_pointer (&out[i], lpt_tensor_unref);
    }

  return ok;
}
