/* lpt-binary-conv.c - BinaryConvolution as a Convolution of -1 and 1
 *
 *     BinaryConvolution (x, w)  =>  Convolution (FakeQuantize (Pad (sign (x))), sign (w))     sign (v) = v > 0 ? 1 : -1
 *
 * Exact. What is padded is the sign of pad_value, and 0 is below. The FakeQuantize has the levels -1, 0 and 1, so that
 * rules of quantization see integers; constant weights are codes of 8 bits.
 *
 * Left alone: shapes that are not known.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-composite.h"

#include <lpt/lpt-attrs.h>

#define FIRST 2      /* spatial axis */

static LptValue *
number (LptSpeller *s,
        double      value)
{
  return lpt_speller_constant (s, "number", lpt_tensor_scalar (LPT_DTYPE_F32, value));
}

static LptValue *
as_real (LptSpeller *s,
         LptValue   *x)
{
  LptNode *node;

  if (x->dtype == LPT_DTYPE_F32)
    return x;
  node = lpt_speller_start (s, LPT_OP_CONVERT, "real", 1, &x);
  LPT_ATTRS (node, LptConvertAttrs)->destination_type = LPT_DTYPE_F32;

  return lpt_speller_done (s, node);
}

static LptValue *
signs (LptSpeller *s,
       LptValue   *x)
{
  LptValue *above;

  x = as_real (s, x);
  above = lpt_speller_emit (s, LPT_OP_GREATER, "above", 2, (LptValue *[]) { x, number (s, 0) });

  return lpt_speller_emit (s, LPT_OP_SELECT, "signs", 3, (LptValue *[]) { above, number (s, 1), number (s, -1) });
}

static LptValue *
weight_signs (LptSpeller *s,
              LptValue   *w)
{
  LptTensor *from = lpt_node_const_in (s->from, 1), *to;
  gint8 *codes;

  if (from == NULL || lpt_node_in (s->from, 1)->quant != NULL)
    return signs (s, w);
  to = lpt_tensor_new (LPT_DTYPE_I8, lpt_tensor_shape (from), NULL);
  codes = to != NULL ? lpt_tensor_writable (to) : NULL;
  for (gint64 i = 0; codes != NULL && i < lpt_tensor_count (from); i++)
    codes[i] = lpt_tensor_get_f64 (from, i) > 0 ? 1 : -1;

  return as_real (s, lpt_speller_constant (s, "codes", to));
}

/* Padding before and behind axis @i of the data. */
static void
pads_of (const LptBinaryConvAttrs *attrs,
         const LptShape           *x,
         const LptShape           *w,
         const LptShape           *y,
         guint                     i,
         gint64                   *begin,
         gint64                   *end)
{
  const gint64 span = (w->dims[FIRST + i] - 1) * lpt_ints_get (&attrs->dilations, i, 1) + 1;
  const gint64 last = (y->dims[FIRST + i] - 1) * lpt_ints_get (&attrs->strides, i, 1);
  const gint64 total = MAX (last + span - x->dims[FIRST + i], 0);

  *begin = lpt_ints_get (&attrs->pads_begin, i, 0);
  *end = lpt_ints_get (&attrs->pads_end, i, 0);
  if (attrs->auto_pad == LPT_AUTO_PAD_VALID)
    *begin = *end = 0;
  else if (attrs->auto_pad == LPT_AUTO_PAD_SAME_UPPER || attrs->auto_pad == LPT_AUTO_PAD_SAME_LOWER)
    {
      *begin = attrs->auto_pad == LPT_AUTO_PAD_SAME_LOWER ? total - total / 2 : total / 2;
      *end = total - *begin;
    }
}

static LptValue *
padded (LptSpeller *s,
        LptValue   *x,
        LptValue   *w)
{
  const LptBinaryConvAttrs *attrs = LPT_ATTRS (s->from, LptBinaryConvAttrs);
  const gint rank = x->shape.rank;
  const LptShape list = { 1, { rank } };
  gint64 begin[LPT_MAX_RANK] = { 0 }, end[LPT_MAX_RANK] = { 0 };
  gboolean any = FALSE;
  LptValue *in[4] = { x };

  for (guint i = 0; i + FIRST < (guint) rank; i++)
    {
      pads_of (attrs, &x->shape, &w->shape, &s->from->out[0].shape, i, &begin[FIRST + i], &end[FIRST + i]);
      any = any || begin[FIRST + i] > 0 || end[FIRST + i] > 0;
    }
  if (!any)
    return x;
  in[1] = lpt_speller_constant (s, "begin", lpt_tensor_new_copy (LPT_DTYPE_I64, &list, begin, NULL));
  in[2] = lpt_speller_constant (s, "end", lpt_tensor_new_copy (LPT_DTYPE_I64, &list, end, NULL));
  in[3] = number (s, attrs->pad_value > 0 ? 1 : -1);

  return lpt_speller_emit (s, LPT_OP_PAD, "padded", 4, in);
}

LptValue *
lpt_binary_convolution_spell (LptSpeller *s)
{
  const LptBinaryConvAttrs *attrs = LPT_ATTRS (s->from, LptBinaryConvAttrs);
  LptValue *x = lpt_node_in (s->from, 0), *w = lpt_node_in (s->from, 1), *in[5];
  LptConvAttrs *to;
  LptNode *node;
  gint64 zero[LPT_MAX_RANK] = { 0 };
  guint n;

  if (!lpt_shape_is_static (&x->shape) || !lpt_shape_is_static (&w->shape) || w->shape.rank != x->shape.rank)
    return NULL;
  n = (guint) x->shape.rank - FIRST;
  x = padded (s, signs (s, x), w);
  in[0] = x;
  in[1] = in[3] = number (s, -1);
  in[2] = in[4] = number (s, 1);
  node = lpt_speller_start (s, LPT_OP_FAKE_QUANTIZE, "levels", 5, in);
  LPT_ATTRS (node, LptFakeQuantizeAttrs)->levels = 3;
  in[0] = lpt_speller_done (s, node);
  in[1] = weight_signs (s, w);
  node = lpt_speller_start (s, LPT_OP_CONVOLUTION, "Convolution", 2, in);
  to = LPT_ATTRS (node, LptConvAttrs);
  lpt_ints_set (&to->strides, attrs->strides.n, attrs->strides.v);
  lpt_ints_set (&to->dilations, attrs->dilations.n, attrs->dilations.v);
  lpt_ints_set (&to->pads_begin, n, zero);
  lpt_ints_set (&to->pads_end, n, zero);
  x = lpt_speller_done (s, node);
  if (s->from->out[0].dtype == LPT_DTYPE_F32)
    return x;
  node = lpt_speller_start (s, LPT_OP_CONVERT, "type", 1, &x);
  LPT_ATTRS (node, LptConvertAttrs)->destination_type = s->from->out[0].dtype;

  return lpt_speller_done (s, node);
}
