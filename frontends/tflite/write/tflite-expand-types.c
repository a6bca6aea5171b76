/* tflite-expand-types.c - plain numbers of types that an operator has no kernel for in TensorFlow Lite 2.9
 *
 * The node computes in 32 bits, or 64, and its result is converted back, which wraps as the type does. Numbers that
 * are moved come back as they were. A function of real numbers computes in f32, and its result is rounded half to even
 * within the bounds of the type, as the reference rounds it.
 *
 *     Abs                 max (x, -x); itself without a sign
 *     SquaredDifference   of 64 bits: (a - b) (a - b)
 *     NonZero             of x != 0, of a number as of a row
 *
 * Codes with a scale are another matter: their node is one of real numbers (tflite-writer.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-expand.h"

#include "frontends/mixed-types.h"
#include "frontends/tflite/tflite-type-bits.h"

#define EMIT1(op, a) lpt_tfl_x_emit (x, LPT_OP_##op, 1, (a))
#define EMIT2(op, a, b) lpt_tfl_x_emit (x, LPT_OP_##op, 2, (a), (b))

/* Some inputs are of one type, which is one of @types, or else computed in another one. */
static const struct { LptOp op; guint types, inputs; } rows[] = {
#define TFL_TYPES(OP, types, inputs) { LPT_OP_##OP, types, inputs },
#include "frontends/tflite/write/tflite-types.def"
};

typedef struct { guint types, inputs; } Kernels;

/* What @node has kernels for: a function of one number that is none of whole ones has those of real numbers. */
static Kernels
kernels_of (const LptNode *node)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].op == node->op)
      return (Kernels) { rows[i].types, rows[i].inputs };
  if (lpt_mixed_is_real_function (node->op))
    return (Kernels) { F, 7 };
  return (Kernels) { 0 };
}

gboolean
lpt_tfl_x_lacks_kernel (const LptNode *node, LptDType *dtype)
{
  const Kernels kernels = kernels_of (node);
  const guint first = (guint) g_bit_nth_lsf (kernels.inputs, -1);
  const LptValue *v = kernels.inputs != 0 && first < node->n_in ? node->in[first].value : NULL;
  if (v == NULL || v->quant != NULL || (!lpt_dtype_is_integer (v->dtype) && v->dtype != LPT_DTYPE_BOOL))
    return FALSE;
  *dtype = v->dtype;
  return (lpt_tfl_type_bit (v->dtype) & kernels.types) == 0;
}

/* What a node of type @own computes in. */
static LptDType
wider (LptDType own, guint types)
{
  if (types == F)
    return LPT_DTYPE_F32;
  return own != LPT_DTYPE_U32 && own != LPT_DTYPE_I32 && own != LPT_DTYPE_I64 ? LPT_DTYPE_I32 : LPT_DTYPE_I64;
}

void
lpt_tfl_x_widen (LptTflExpand *x)
{
  const Kernels kernels = kernels_of (x->node);
  LptDType own;
  LptValue *in[8];
  if (!lpt_tfl_x_lacks_kernel (x->node, &own) || x->node->n_in > G_N_ELEMENTS (in))
    return;
  const LptDType wide = wider (own, kernels.types);
  if ((lpt_tfl_type_bit (wide) & kernels.types) == 0 || (own == LPT_DTYPE_U64 && wide != LPT_DTYPE_F32))
    return;
  for (guint i = 0; i < x->node->n_in; i++)
    {
      in[i] = lpt_tfl_x_raw (x, i);
      in[i] = (kernels.inputs & 1u << i) != 0 && in[i] != NULL ? lpt_tfl_x_convert (x, in[i], wide) : in[i];
    }
  LptNode *node = lpt_node_clone (x->node, x->node->name, x->node->n_in, in);
  for (guint o = 0; o < node->n_out; o++)
    {
      node->out[o].dtype = node->out[o].dtype == own ? wide : node->out[o].dtype;
      if (lpt_dtype_is_real (node->out[o].dtype))
        lpt_value_set_quant (&node->out[o], NULL);
    }
  lpt_tfl_x_done (x, node);
  for (guint o = 0; o < node->n_out; o++)
    {
      LptValue *made = &node->out[o];
      const gboolean rounds = lpt_dtype_is_real (made->dtype) && lpt_dtype_is_integer (x->node->out[o].dtype);
      lpt_tfl_x_set (x, o, rounds && x->node->out[o].quant == NULL ? EMIT1 (ROUND, made) : made);
    }
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

/* WHERE of one number without axes gives places without axes: it is a row of one. */
void
lpt_tfl_expand_non_zero (LptTflExpand *x)
{
  LptValue *v = lpt_tfl_x_raw (x, 0), *hit = v;
  if (v->quant != NULL)
    return;
  if (lpt_dtype_is_integer (v->dtype))
    hit = lpt_tfl_x_convert (x, v, LPT_DTYPE_BOOL);
  if (v->shape.rank == 0)
    hit = lpt_tfl_x_reshape (x, hit, 1, (gint64[]) { 1 });
  if (hit == v)
    return;
  LptNode *node = lpt_node_clone (x->node, x->node->name, 1, &hit);
  lpt_tfl_x_set (x, 0, lpt_tfl_x_done (x, node));
}
