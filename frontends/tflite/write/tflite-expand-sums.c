/* tflite-expand-sums.c - sums of products that are plain integers of 32 bits
 *
 * BATCH_MATMUL of 2.9 adds int8 codes up as int32, without their zero points. With codes a, b as int8 and their zero
 * points z, y, sums over k of n terms:
 *
 *     sum (a - z) (b - y) = sum a b - z sum b - y sum a + n y z
 *
 * where a sum of codes is their product with ones. All of it wraps as int32 does, so that no bit is lost. What has no
 * such operator, convolutions, adds up real numbers: these are exact where no sum can reach 2^24
 * (lpt_node_sums_fit()).
 *
 * A convolution of data with a computed zero point is one of the numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-expand.h"
#include "frontends/tflite/write/tflite-weights.h"

#include "ir/lpt-quant-plain.h"
#include "ir/lpt-weighted.h"
#include "passes/support/lpt-sums-fit.h"

#include <string.h>

#define EMIT2(op, a, b) lpt_tfl_x_emit (x, LPT_OP_##op, 2, (a), (b))

/* Codes of 8 bits in steps of 1? */
static gboolean
is_byte (const LptValue *value)
{
  const LptQuant *q = value != NULL ? value->quant : NULL;
  return q != NULL && q->n == 1 && q->scale[0] == 1 && value->shape.rank >= 2 && value->shape.rank <= 5
         && (value->dtype == LPT_DTYPE_I8 || value->dtype == LPT_DTYPE_U8)
         && q->zero_point[0] >= lpt_dtype_min (value->dtype) && q->zero_point[0] <= lpt_dtype_max (value->dtype);
}

static gboolean
is_plain (const LptValue *value)
{
  return lpt_quant_is_plain (value->quant) && (value->dtype == LPT_DTYPE_I32 || value->dtype == LPT_DTYPE_I64);
}

gboolean
lpt_tfl_w_is_plain (const LptNode *node)
{
  gboolean plain = node->n_out > 0;
  for (guint o = 0; o < node->n_out && plain; o++)
    plain = is_plain (&node->out[o]) || node->out[o].dtype == LPT_DTYPE_BOOL;
  for (guint i = 0; i < node->n_in && plain; i++)
    plain = node->in[i].value == NULL || is_plain (node->in[i].value) || node->in[i].value->dtype == LPT_DTYPE_BOOL;
  return plain;
}

gboolean
lpt_tfl_w_sums_codes (LptNode *node)
{
  for (guint i = 0; i < 2; i++)
    if (!is_byte (lpt_node_in (node, i)) || lpt_node_in (node, i)->dtype != LPT_DTYPE_I8
        || !lpt_quant_is_plain (lpt_node_in (node, i)->quant))
      return FALSE;
  return lpt_node_out (node)->dtype == LPT_DTYPE_I32 && is_plain (lpt_node_out (node))
         && lpt_node_in (node, 2) == NULL && lpt_node_in (node, 3) == NULL;
}

/* A zero point of data: an integer; of a matrix one for each row, too. */
static gboolean
is_zero_point (const LptValue *value, gboolean rows)
{
  const LptShape *shape = &value->shape;
  gboolean one = lpt_dtype_is_integer (value->dtype) && shape->rank >= 0;
  for (gint i = 0; i < shape->rank && one; i++)
    one = shape->dims[i] == 1 || (rows && i < shape->rank - 1);
  return one;
}

/* --- computed zero points ---------------------------------------------------------------- */

/* Whoever computes real numbers reads @real instead of @sums; FALSE: integers are wanted, too. */
static gboolean
read_numbers (LptValue *sums, LptValue *real)
{
  g_autoptr (GArray) uses = g_array_copy (sums->uses);
  guint left = uses->len;
  for (guint i = 0; i < uses->len; i++)
    {
      const LptUse *use = &g_array_index (uses, LptUse, i);
      gboolean converts = use->node->op == LPT_OP_CONVERT || use->node->op == LPT_OP_DEQUANTIZE;
      if (use->node->n_out == 0 || (!converts && lpt_tfl_w_is_plain (use->node)))
        continue;
      lpt_node_set_input (use->node, use->index, real);
      left--;
    }
  return left == 0;
}

/* Convolutions: data from which the zero point is subtracted, in real numbers. */
void
lpt_tfl_expand_zero (LptTflExpand *x)
{
  LptNode *node = x->node;
  LptWeightedView view;
  LptValue *y = lpt_node_out (node), *in[8];
  if (!lpt_weighted_view (node, &view) || lpt_tfl_x_raw (x, view.zero) == NULL || node->n_in > G_N_ELEMENTS (in)
      || lpt_tfl_x_raw (x, view.bias) != NULL || !is_plain (y)
      || !is_zero_point (lpt_tfl_x_raw (x, view.zero), FALSE))
    return;
  for (guint i = 0; i < node->n_in; i++)
    in[i] = i == 1 ? lpt_tfl_x_in (x, i) : lpt_tfl_x_raw (x, i);
  in[0] = EMIT2 (SUBTRACT, lpt_tfl_x_in (x, 0), lpt_tfl_x_in (x, view.zero));
  LptNode *real = lpt_node_clone (node, node->name, view.bias, in);
  real->flags &= ~(guint32) LPT_NODE_RELAXED;
  lpt_node_out (real)->dtype = LPT_DTYPE_F32;
  lpt_value_set_quant (lpt_node_out (real), NULL);
  LptValue *numbers = lpt_tfl_x_done (x, real);
  if (x->error == NULL && !x->declined && !read_numbers (y, numbers) && lpt_node_sums_fit (node))
    lpt_value_replace (y, lpt_tfl_x_convert (x, numbers, LPT_DTYPE_I32), NULL);
}

/* --- products -------------------------------------------------------------------------- */

/* Input @i as int8 codes that stand for themselves; *@zero is what they are too great by. */
static LptValue *
bytes (LptTflExpand *x, guint i, gint64 *zero)
{
  LptValue *v = lpt_tfl_x_raw (x, i);
  *zero = v->quant->zero_point[0];
  if (v->dtype == LPT_DTYPE_U8)
    {
      *zero -= 128;
      LptNode *node = lpt_tfl_x_add (x, LPT_OP_REQUANTIZE, 1, 1, &v);
      g_autoptr (LptQuant) quant = lpt_quant_new_one (1, (gint32) *zero);
      LPT_ATTRS (node, LptQuantizeAttrs)->type = LPT_DTYPE_I8;
      node->flags |= LPT_NODE_RELAXED;
      lpt_node_out (node)->dtype = LPT_DTYPE_I8;
      lpt_value_set_quant (lpt_node_out (node), quant);
      v = lpt_tfl_x_done (x, node);
    }
  if (*zero == 0)
    return v;
  LptNode *node = lpt_tfl_x_add (x, LPT_OP_REINTERPRET, 1, 1, &v);
  g_autoptr (LptQuant) unit = lpt_quant_new_one (1, 0);
  node->flags |= LPT_NODE_RELAXED;
  lpt_node_out (node)->dtype = LPT_DTYPE_I8;
  lpt_value_set_quant (lpt_node_out (node), unit);
  return lpt_tfl_x_done (x, node);
}

static LptValue *
sums (LptTflExpand *x, LptValue *a, LptValue *b, gboolean turn_a, gboolean turn_b)
{
  LptNode *node = lpt_tfl_x_add (x, LPT_OP_MATMUL, 1, 2, (LptValue *[]) { a, b });
  g_autoptr (LptQuant) unit = lpt_quant_new_one (1, 0);
  LPT_ATTRS (node, LptMatMulAttrs)->transpose_a = turn_a;
  LPT_ATTRS (node, LptMatMulAttrs)->transpose_b = turn_b;
  node->flags |= LPT_NODE_RELAXED;
  lpt_node_out (node)->dtype = LPT_DTYPE_I32;
  lpt_value_set_quant (lpt_node_out (node), unit);
  return lpt_tfl_x_done (x, node);
}

/* A matrix of ones, of as many axes as @like. */
static LptValue *
ones (LptTflExpand *x, const LptValue *like, gint64 rows, gint64 columns)
{
  LptShape shape = { .rank = like->shape.rank };
  g_autoptr (LptQuant) unit = lpt_quant_new_one (1, 0);
  for (gint i = 0; i < shape.rank; i++)
    shape.dims[i] = i == shape.rank - 2 ? rows : i == shape.rank - 1 ? columns : 1;
  LptTensor *data = lpt_tensor_new (LPT_DTYPE_I8, &shape, &x->error);
  if (data != NULL)
    memset (lpt_tensor_writable (data), 1, (gsize) (rows * columns));
  LptValue *value = lpt_tfl_x_tensor (x, data);
  lpt_value_set_quant (value, unit);
  return value;
}

/* Sums of the codes of matrix @v along its rows' numbers, @across = FALSE, or its columns': at once of a constant. */
static LptValue *
sums_of (LptTflExpand *x, LptValue *v, gboolean across, gboolean turned, gint64 terms)
{
  LptTensor *data = v->producer->data;
  LptShape shape = v->shape;
  const gint at = shape.rank - (across == turned ? 1 : 2);
  if (data == NULL)
    return across ? sums (x, ones (x, v, 1, terms), v, FALSE, turned)
                  : sums (x, v, ones (x, v, terms, 1), turned, FALSE);
  const gint64 behind = at == shape.rank - 1 ? 1 : shape.dims[shape.rank - 1];
  const gint8 *codes = lpt_tensor_data (data);
  shape.dims[at] = 1;
  LptTensor *made = lpt_tensor_new (LPT_DTYPE_I32, &shape, &x->error);
  gint32 *to = made != NULL ? lpt_tensor_writable (made) : NULL;
  for (gint64 i = 0; to != NULL && i < lpt_tensor_count (data); i++)
    {
      gint64 o = i / (behind * terms) * behind + i % behind;
      to[o] = (i / behind % terms == 0 ? 0 : to[o]) + codes[i];
    }
  if (made == NULL || !turned)
    return lpt_tfl_x_tensor (x, made);
  /* One of the two axes has length 1. */
  LptShape other = shape;
  other.dims[shape.rank - 1] = shape.dims[shape.rank - 2];
  other.dims[shape.rank - 2] = shape.dims[shape.rank - 1];
  LptTensor *swapped = lpt_tensor_reshape (made, &other, &x->error);
  lpt_tensor_unref (made);
  return lpt_tfl_x_tensor (x, swapped);
}

static LptValue *
whole (LptTflExpand *x, gint64 number)
{
  return lpt_tfl_x_tensor (x, lpt_tensor_scalar (LPT_DTYPE_I32, (double) number));
}

void
lpt_tfl_x_sums (LptTflExpand *x)
{
  const LptMatMulAttrs *attrs = LPT_ATTRS (x->node, LptMatMulAttrs);
  LptValue *y = lpt_node_out (x->node), *bias = lpt_tfl_x_raw (x, 2), *given = lpt_tfl_x_raw (x, 3);
  if (!is_byte (lpt_tfl_x_raw (x, 0)) || !is_byte (lpt_tfl_x_raw (x, 1)) || y->dtype != LPT_DTYPE_I32 || !is_plain (y)
      || (bias != NULL && !is_plain (bias)) || (given != NULL && !is_zero_point (given, TRUE))
      || lpt_tfl_w_sums_codes (x->node))
    return;
  gint64 z, zero;
  LptValue *a = bytes (x, 0, &z), *b = bytes (x, 1, &zero);
  gint64 terms = a->shape.dims[a->shape.rank - (attrs->transpose_a ? 2 : 1)];
  const gboolean rows = zero != 0, columns = z != 0 || given != NULL;
  if (terms < 1)
    {
      lpt_tfl_x_decline (x);
      return;
    }
  LptValue *sum = sums (x, a, b, attrs->transpose_a, attrs->transpose_b);
  if (rows)
    sum = EMIT2 (SUBTRACT, sum, EMIT2 (MULTIPLY, sums_of (x, a, FALSE, attrs->transpose_a, terms),
                                       whole (x, zero)));
  if (columns)
    {
      LptValue *all = sums_of (x, b, TRUE, attrs->transpose_b, terms);
      /* A zero point that is computed is the number that its codes stand for, beside that of the type. */
      LptValue *at = given == NULL ? whole (x, z) : lpt_tfl_x_convert (x, lpt_tfl_x_in (x, 3), LPT_DTYPE_I32);
      if (given != NULL && z != 0)
        at = EMIT2 (ADD, at, whole (x, z));
      all = rows ? EMIT2 (SUBTRACT, all, whole (x, terms * zero)) : all;
      sum = EMIT2 (SUBTRACT, sum, EMIT2 (MULTIPLY, all, at));
    }
  lpt_tfl_x_set (x, 0, bias != NULL ? EMIT2 (ADD, sum, bias) : sum);
}
