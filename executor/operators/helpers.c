/* helpers.c - what several forms ask of their ops
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/lpt-operators.h"

const LptArray *
lpt_bias_of (const LptProgramOp *op,
             guint               input,
             gsize               channels,
             gboolean           *ok)
{
  const LptProgramValue *value;

  *ok = TRUE;
  if (op->n_in <= input || op->in[input] == NULL)
    return NULL;
  value = op->in[input];
  *ok = value->kind == LPT_STORAGE_CONST && (value->array.dtype == LPT_DTYPE_I32 || value->array.dtype == LPT_DTYPE_I64) &&
        ((gsize) lpt_array_count (&value->array) == channels || lpt_array_count (&value->array) == 1);

  return &value->array;
}

gint64
lpt_bias_at (const LptArray *bias,
             gsize           c)
{
  gsize i = lpt_array_count (bias) == 1 ? 0 : c;

  return bias->dtype == LPT_DTYPE_I64 ? ((const gint64 *) bias->data)[i] : ((const gint32 *) bias->data)[i];
}

LptValueLayout
lpt_codes_layout (const LptProgramValue *value)
{
  return value->layout == LPT_LAYOUT_CODES_LAST ? LPT_LAYOUT_CODES_LAST : LPT_LAYOUT_CODES;
}
