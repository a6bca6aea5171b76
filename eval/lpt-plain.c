/* lpt-plain.c - codes that stand for themselves, as ops on plain integers read them
 *
 *     op (q), q in one step of 1 from 0, all outputs integers without parameters  =>  op (integers of q)
 *
 * A number is its code, so that nothing is rounded: float32 has not all integers of more than 24 bits, which sums of
 * products are. Codes stay as they are where an output is real or has parameters, where types may mix
 * (LPT_NODE_RELAXED), where a body reads them and where only their shape is read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-body.h>

#include "eval/lpt-call.h"
#include "eval/lpt-code-loops.h"
#include "ir/lpt-quant-plain.h"

gboolean
lpt_call_makes_plain (const LptCall *call)
{
  if ((call->node->flags & LPT_NODE_RELAXED) != 0 || (call->node->info->flags & LPT_OP_F_SHAPE) != 0 ||
      call->n_out == 0 || lpt_node_n_bodies (call->node) > 0)
    return FALSE;
  for (guint o = 0; o < call->n_out; o++)
    if (call->out[o].quant != NULL || lpt_dtype_is_real (call->out[o].declared))
      return FALSE;

  return TRUE;
}

static gboolean
read_plain (LptCall   *call,
            LptArray  *array,
            GError   **error)
{
  const LptDType dtype = lpt_storage_dtype (array->declared, NULL);
  const gint64 n = lpt_array_count (array);
  gpointer data = lpt_call_scratch (call, (gsize) n, lpt_storage_size (dtype), error);

  if (data == NULL)
    return FALSE;
  if (dtype == LPT_DTYPE_I64)
    lpt_codes_to_words (array->data, array->dtype, n, data);
  else
    lpt_codes_to_numbers (array->data, array->dtype, n, 1, 0, data);
  array->data = data;
  array->dtype = dtype;
  array->quant = NULL;

  return TRUE;
}

gboolean
lpt_call_read_plain (LptCall  *call,
                     GError  **error)
{
  LptArray *in = call->in;
  gboolean any = FALSE;

  if (!lpt_call_makes_plain (call))
    return TRUE;
  for (guint i = 0; i < call->n_in; i++)
    any |= lpt_call_has (call, i) && in[i].quant != NULL && lpt_quant_is_plain (in[i].quant);
  if (!any)
    return TRUE;

  in = lpt_call_scratch (call, call->n_in, sizeof *in, error);
  if (in == NULL)
    return FALSE;
  memcpy (in, call->in, call->n_in * sizeof *in);
  for (guint i = 0; i < call->n_in; i++)
    if (lpt_call_has (call, i) && in[i].quant != NULL && lpt_quant_is_plain (in[i].quant) &&
        !read_plain (call, &in[i], error))
      return FALSE;
  call->in = in;

  return TRUE;
}
