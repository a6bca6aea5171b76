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

gboolean
lpt_rescale_make (const LptMultiplier *m,
                  LptRescale          *r)
{
  const gboolean once = m->rounding == LPT_REQUANT_SINGLE || m->s > 0;
  const gint second = once ? 0 : -m->s;

  if (m->m == G_MININT32 || m->s > 30 || m->s < -31 ||
      (m->rounding != LPT_REQUANT_SINGLE && m->rounding != LPT_REQUANT_DOUBLE))
    return FALSE;
  r->m = m->m;
  r->shift[0] = once ? 31 - m->s : 31;
  r->half[0] = G_GINT64_CONSTANT (1) << (r->shift[0] - 1);
  r->shift[1] = second;
  r->half[1] = (G_GINT64_CONSTANT (1) << second) >> 1;
  r->away = second > 0;

  return TRUE;
}

void
lpt_add_form (LptProgram      *program,
              LptProgramOp    *op,
              const LptOpForm *form,
              gconstpointer    params,
              gsize            size)
{
  LptOpForm own = *form;

  own.params = g_memdup2 (params, size);
  lpt_program_set_form (op->has_form ? lpt_program_add_op (program, op->node, op->index) : op, &own);
}
