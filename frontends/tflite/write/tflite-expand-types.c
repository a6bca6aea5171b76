/* tflite-expand-types.c - plain numbers of types that an operator has no kernel for in TensorFlow Lite 2.9
 *
 * The node computes in 32 bits, or 64, and its result is converted back, which wraps as the type does. Numbers that
 * are moved come back as they were.
 *
 *     Abs                 max (x, -x); itself without a sign
 *     SquaredDifference   of 64 bits: (a - b) (a - b)
 *     NonZero             of x != 0
 *
 * Codes with a scale are another matter: their node is one of real numbers (tflite-writer.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-expand.h"

#include "frontends/tflite/tflite-type-bits.h"

#define EMIT1(op, a) lpt_tfl_x_emit (x, LPT_OP_##op, 1, (a))
#define EMIT2(op, a, b) lpt_tfl_x_emit (x, LPT_OP_##op, 2, (a), (b))

/* Some inputs are of one type, which is one of @types, or else computed in another one. */
static const struct { LptOp op; guint types, inputs; } rows[] = {
#define TFL_TYPES(OP, types, inputs) { LPT_OP_##OP, types, inputs },
#include "frontends/tflite/write/tflite-types.def"
};

/* The row of @node where it lacks a kernel for plain numbers of type *@dtype; -1. */
static gint
lacking (const LptNode *node, LptDType *dtype)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const guint first = (guint) g_bit_nth_lsf (rows[i].inputs, -1);
      const LptValue *v = rows[i].op == node->op && first < node->n_in ? node->in[first].value : NULL;
      if (v == NULL || v->quant != NULL || (!lpt_dtype_is_integer (v->dtype) && v->dtype != LPT_DTYPE_BOOL))
        continue;
      *dtype = v->dtype;
      if ((lpt_tfl_type_bit (v->dtype) & rows[i].types) == 0)
        return (gint) i;
    }
  return -1;
}

gboolean
lpt_tfl_x_lacks_kernel (const LptNode *node, LptDType *dtype)
{
  return lacking (node, dtype) >= 0;
}

void
lpt_tfl_x_widen (LptTflExpand *x)
{
  LptDType own;
  const gint row = lacking (x->node, &own);
  LptValue *in[8];
  if (row < 0 || x->node->n_in > G_N_ELEMENTS (in))
    return;
  const LptDType wide = own != LPT_DTYPE_U32 && own != LPT_DTYPE_I32 && own != LPT_DTYPE_I64 ? LPT_DTYPE_I32
                                                                                             : LPT_DTYPE_I64;
  if ((lpt_tfl_type_bit (wide) & rows[row].types) == 0 || own == LPT_DTYPE_U64)
    return;
  for (guint i = 0; i < x->node->n_in; i++)
    {
      in[i] = lpt_tfl_x_raw (x, i);
      in[i] = (rows[row].inputs & 1u << i) != 0 && in[i] != NULL ? lpt_tfl_x_convert (x, in[i], wide) : in[i];
    }
  LptNode *node = lpt_node_clone (x->node, x->node->name, x->node->n_in, in);
  for (guint o = 0; o < node->n_out; o++)
    node->out[o].dtype = node->out[o].dtype == own ? wide : node->out[o].dtype;
  lpt_tfl_x_done (x, node);
  for (guint o = 0; o < node->n_out; o++)
    lpt_tfl_x_set (x, o, &node->out[o]);
}

void
lpt_tfl_expand_abs (LptTflExpand *x)
{
  LptValue *v = lpt_tfl_x_raw (x, 0);
  if (v->quant != NULL || !lpt_dtype_is_integer (v->dtype))
    return;
  lpt_tfl_x_set (x, 0, lpt_dtype_min (v->dtype) < 0 ? EMIT2 (MAXIMUM, v, EMIT1 (NEGATIVE, v)) : EMIT1 (IDENTITY, v));
}

void
lpt_tfl_expand_squared_difference (LptTflExpand *x)
{
  LptValue *a = lpt_tfl_x_raw (x, 0);
  if (a->quant != NULL || a->dtype != LPT_DTYPE_I64)
    return;
  LptValue *d = EMIT2 (SUBTRACT, a, lpt_tfl_x_raw (x, 1));
  lpt_tfl_x_set (x, 0, EMIT2 (MULTIPLY, d, d));
}

void
lpt_tfl_expand_non_zero (LptTflExpand *x)
{
  LptValue *v = lpt_tfl_x_raw (x, 0);
  if (v->quant != NULL || !lpt_dtype_is_integer (v->dtype))
    return;
  LptValue *hit = lpt_tfl_x_convert (x, v, LPT_DTYPE_BOOL);
  LptNode *node = lpt_node_clone (x->node, x->node->name, 1, &hit);
  lpt_tfl_x_set (x, 0, lpt_tfl_x_done (x, node));
}
