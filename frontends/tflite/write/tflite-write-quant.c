/* tflite-write-quant.c - types and quantization
 *
 *     Quantize, Requantize   QUANTIZE
 *     Dequantize             DEQUANTIZE; of a constant the numbers
 *     Reinterpret            nothing, the value has another gauge; with another zero point a RESHAPE; where a side has
 *                            scales or zero points that the file cannot give to codes: the codes as real numbers
 *     FakeQuantize           QUANTIZE and DEQUANTIZE where it is 8 bits per tensor and rounds its input; else its
 *     arithmetic
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-weights.h"

#include "ir/lpt-fold.h"
#include "ir/lpt-quant-plain.h"
#include "ir/lpt-quantize-details.h"

#include <math.h>
#include <string.h>

static LptTflLayout
layout_of (LptTflWriter *w)
{
  LptValue *x = lpt_node_in (w->node, 0);
  return x->producer->data == NULL && lpt_tfl_w_place (w, x)->tensor[LPT_TFL_LAST] >= 0 ? LPT_TFL_LAST : LPT_TFL_PLAIN;
}

/* The numbers @from, which are what @to quantizes. */
void
lpt_tfl_w_pass (LptTflWriter *w, gint from, gint to)
{
  LptTflPending *item = w->pending->len > 0 ? &g_array_index (w->pending, LptTflPending, w->pending->len - 1) : NULL;
  if (item != NULL && item->from == to)
    item->from = from;
}

void
lpt_tfl_write_quantize (LptTflWriter *w, gint64 code)
{
  LptTflLayout layout = layout_of (w);
  LptValue *y = lpt_node_out (w->node);
  if (y->quant == NULL || (y->dtype != LPT_DTYPE_I8 && y->dtype != LPT_DTYPE_U8 && y->dtype != LPT_DTYPE_I16))
    lpt_tfl_w_fail (w, "codes of type %s", lpt_dtype_name (y->dtype));
  /* With several scales the codes are made of the numbers first. */
  w->real = lpt_tfl_w_is_spelled (y);
  gint x = lpt_tfl_w_in (w, 0, layout);
  if (w->real && w->error == NULL)
    lpt_tfl_w_pass (w, x, lpt_tfl_w_out (w, 0, layout, 1));
  else
    lpt_tfl_w_op (w, TFL_QUANTIZE, 1, &x, lpt_tfl_w_out (w, 0, layout, 1));
}

/* Between types that QUANTIZE lacks the numbers stand in between. */
void
lpt_tfl_write_requantize (LptTflWriter *w, gint64 code)
{
  LptTflLayout layout = layout_of (w);
  LptDType from = lpt_node_in (w->node, 0)->dtype, to = lpt_node_out (w->node)->dtype;
  if (lpt_node_in (w->node, 0)->quant == NULL || lpt_node_out (w->node)->quant == NULL)
    {
      lpt_tfl_w_fail (w, "codes without a scale");
      return;
    }
  if (lpt_tfl_w_is_spelled (lpt_node_in (w->node, 0)) || lpt_tfl_w_is_spelled (lpt_node_out (w->node)))
    {
      w->real = TRUE;
      gint real = lpt_tfl_w_in (w, 0, layout);
      lpt_tfl_w_pass (w, real, w->error == NULL ? lpt_tfl_w_out (w, 0, layout, 1) : -1);
      return;
    }
  if (from == to && lpt_quant_equal (lpt_node_in (w->node, 0)->quant, lpt_node_out (w->node)->quant))
    {
      lpt_tfl_write_identity (w, code);
      return;
    }
  gboolean bytes = (from == LPT_DTYPE_I8 || from == LPT_DTYPE_U8) && (to == LPT_DTYPE_I8 || to == LPT_DTYPE_U8);
  gboolean words = (from == LPT_DTYPE_I16 && to != LPT_DTYPE_U8)
                   || (from == LPT_DTYPE_I32 && (to == LPT_DTYPE_I8 || to == LPT_DTYPE_I16));
  double gauge = 1;
  gint x = bytes || words ? lpt_tfl_w_in_free (w, 0, layout, &gauge)
                          : lpt_tfl_w_real (w, lpt_node_in (w->node, 0), layout);
  if (to != LPT_DTYPE_I8 && to != LPT_DTYPE_U8 && to != LPT_DTYPE_I16 && !words)
    lpt_tfl_w_fail (w, "codes of type %s", lpt_dtype_name (to));
  lpt_tfl_w_op (w, TFL_QUANTIZE, 1, &x, lpt_tfl_w_out (w, 0, layout, gauge));
}

void
lpt_tfl_write_dequantize (LptTflWriter *w, gint64 code)
{
  LptTflLayout layout = layout_of (w);
  LptValue *x = lpt_node_in (w->node, 0);
  gint tensor = x->quant != NULL ? lpt_tfl_w_real (w, x, layout)
                                 : lpt_tfl_w_cast (w, lpt_tfl_w_in (w, 0, layout), LPT_DTYPE_F32);
  lpt_tfl_w_alias (w, 0, layout, tensor, 1);
}

void
lpt_tfl_write_reinterpret (LptTflWriter *w, gint64 code)
{
  LptTflLayout layout = layout_of (w);
  LptValue *x = lpt_node_in (w->node, 0), *y = lpt_node_out (w->node);
  const LptQuant *a = x->quant, *b = y->quant;
  double gauge;
  /* They have become numbers. */
  if (x->dtype == LPT_DTYPE_I64 && !lpt_quant_is_plain (a))
    {
      lpt_tfl_w_fail (w, "codes of 64 bits under another scale");
      return;
    }
  if (a != NULL && b != NULL && (lpt_tfl_w_is_spelled (x) || lpt_tfl_w_is_spelled (y)))
    {
      gint codes = lpt_tfl_w_scale (w, x, layout, -1, lpt_tfl_w_real (w, x, layout));
      w->real = TRUE;
      gint numbers = w->error == NULL ? lpt_tfl_w_scale (w, y, layout, codes, -1) : -1;
      lpt_tfl_w_pass (w, numbers, w->error == NULL ? lpt_tfl_w_out (w, 0, layout, 1) : -1);
      return;
    }
  gint tensor = lpt_tfl_w_in_free (w, 0, layout, &gauge);
  if (a != NULL && b != NULL && a->zero_point[0] == b->zero_point[0] && w->error == NULL)
    {
      lpt_tfl_w_alias (w, 0, layout, tensor, gauge * a->scale[0] / b->scale[0]);
      return;
    }
  gint out = lpt_tfl_w_out (w, 0, layout, 1);
  LptShape shape = w->error == NULL ? lpt_tfl_w_get (w, out)->shape : LPT_SHAPE_SCALAR;
  lpt_tfl_w_reshape (w, tensor, &shape, NULL, out);
}

/* Do codes stand for themselves? */
static gboolean
is_bare (const LptQuant *quant)
{
  return quant != NULL && lpt_quant_is_plain (quant);
}

static gint
binary (LptTflWriter *w, gint64 code, gint like, gint a, gint b)
{
  return lpt_tfl_w_step (w, code, "step", like, 2, (gint[]) { a, b });
}

void
lpt_tfl_write_convert (LptTflWriter *w, gint64 code)
{
  LptTflLayout layout = layout_of (w);
  LptValue *y = lpt_node_out (w->node), *from = lpt_node_in (w->node, 0);
  if (is_bare (from->quant) && y->quant == NULL && y->dtype == LPT_DTYPE_F32)
    {
      lpt_tfl_w_alias (w, 0, layout, lpt_tfl_w_real (w, from, layout), 1);
      return;
    }
  if (from->quant != NULL || (y->quant != NULL && !is_bare (y->quant)))
    lpt_tfl_w_fail (w, "quantized integers");
  if (lpt_dtype_is_small_float (y->dtype))
    lpt_tfl_w_fail (w, "rounding to %s", lpt_dtype_name (y->dtype));
  gint x = lpt_tfl_w_in (w, 0, layout);
  if (w->error != NULL)
    return;
  if (lpt_tfl_w_get (w, x)->type == lpt_tfl_w_type (y->dtype))
    {
      lpt_tfl_w_alias (w, 0, layout, x, 1);
      return;
    }
  /* CAST takes the lowest bits of what a short type does not hold, a Convert its bounds. */
  if (lpt_dtype_is_integer (y->dtype) && lpt_dtype_bits (y->dtype) < 32
      && lpt_tfl_w_get (w, x)->type == TFL_TYPE_FLOAT32)
    {
      x = binary (w, TFL_MAXIMUM, x, x, lpt_tfl_w_f32 (w, "least", lpt_dtype_min (y->dtype)));
      x = binary (w, TFL_MINIMUM, x, x, lpt_tfl_w_f32 (w, "greatest", lpt_dtype_max (y->dtype)));
    }
  LptTflWOp *op = lpt_tfl_w_op (w, TFL_CAST, 1, &x, lpt_tfl_w_out (w, 0, layout, 1));
  lpt_tfl_w_set (op, LPT_TFL_INT (CastOptions, in_data_type, lpt_tfl_w_get (w, x)->type));
  lpt_tfl_w_set (op, LPT_TFL_INT (CastOptions, out_data_type, lpt_tfl_w_type (y->dtype)));
}

/* The only number of a constant input. */
static gboolean
number_in (LptTflWriter *w, guint i, double *number)
{
  LptTensor *data = lpt_node_const_in (w->node, i);
  if (data == NULL || lpt_tensor_count (data) != 1)
    return FALSE;
  *number = lpt_tensor_get_f64 (data, 0);
  return TRUE;
}

/* Where the interval falls, or is one number, FakeQuantize jumps between the ends of the output, which no clamp
 * does. */
static gboolean
interval_rises (LptTflWriter *w)
{
  LptTensor *low = lpt_node_const_in (w->node, 1), *high = lpt_node_const_in (w->node, 2);
  g_autoptr (LptTensor) rises = lpt_fold_binary (LPT_OP_SUBTRACT, high, low, LPT_DTYPE_F64);   /* NULL: not constant */
  for (gint64 i = 0; rises != NULL && i < lpt_tensor_count (rises); i++)
    if (!(lpt_tensor_get_f64 (rises, i) > 0))
      {
        lpt_tfl_w_fail (w, "an interval that does not rise");
        return FALSE;
      }
  return TRUE;
}

/* One interval @end for the data and the result, in steps of *@step. */
static gboolean
read_interval (LptTflWriter *w, gint64 levels, double end[2], double *step)
{
  double bounds[4] = { 0 };
  for (guint i = 0; i < 4; i++)
    if (!number_in (w, i + 1, &bounds[i]))
      return FALSE;
  if (bounds[0] != bounds[2] || bounds[1] != bounds[3] || !(bounds[0] < bounds[1]))
    return FALSE;
  memcpy (end, bounds, 2 * sizeof *end);
  *step = (end[1] - end[0]) / ((double) levels - 1);
  return TRUE;
}

/* One interval of steps that zero is one of, for the data and the result: round (clamp (x) / step) step, where zeros
 * stay zeros. A logarithm of a sum and a little more would be one of a negative number otherwise. */
static gboolean
spell_steps (LptTflWriter *w, LptTflLayout layout, gint64 levels)
{
  double end[2], step, zero;
  if (!read_interval (w, levels, end, &step) || !lpt_quantize_whole_zero (end[0], end[1], (guint64) levels, &zero))
    return FALSE;
  if (!(step > 1e-30) || fabs (zero) > 1 << 20 || levels > 1 << 16 || lpt_node_in (w->node, 0)->shape.rank > 4)
    return FALSE;
  gint x = lpt_tfl_w_in (w, 0, layout), size = lpt_tfl_w_f32 (w, "size", step);
  if (w->error != NULL)
    return TRUE;
  gint v = binary (w, TFL_MAXIMUM, x, x, lpt_tfl_w_f32 (w, "low", end[0]));
  v = binary (w, TFL_MINIMUM, x, v, lpt_tfl_w_f32 (w, "high", end[1]));
  v = binary (w, TFL_DIV, x, v, size);
  v = lpt_tfl_w_step (w, TFL_ROUND, "rounded", x, 1, &v);
  gint out = lpt_tfl_w_out (w, 0, layout, 1);
  lpt_tfl_w_op (w, TFL_MUL, 2, (gint[]) { v, size }, out);
  return TRUE;
}

/* a where the comparison holds, else b: the lesser or the greater one. Where one end is NaN that is b, as FakeQuantize
 * has it; MINIMUM would give NaN. */
static gint
bound (LptTflWriter *w, gint64 code, gint a, gint b)
{
  LptShape shape;
  if (w->error != NULL || !lpt_shape_broadcast (&lpt_tfl_w_get (w, a)->shape, &lpt_tfl_w_get (w, b)->shape, &shape))
    return a;
  gint truth = lpt_tfl_w_like (w, "step", a, &shape), out = lpt_tfl_w_like (w, "step", a, &shape);
  lpt_tfl_w_get (w, truth)->type = lpt_tfl_w_type (LPT_DTYPE_BOOL);
  lpt_tfl_w_op (w, code, 2, (gint[]) { a, b }, truth);
  lpt_tfl_w_op (w, TFL_SELECT_V2, 3, (gint[]) { truth, a, b }, out);
  return out;
}

/* @at where @x is beyond the bound, else @inside */
static gint
beyond (LptTflWriter *w, gint64 code, gint x, gint limit, gint at, gint inside, gint out)
{
  gint truth = binary (w, code, x, x, limit);
  if (w->error != NULL)
    return out;
  lpt_tfl_w_get (w, truth)->type = lpt_tfl_w_type (LPT_DTYPE_BOOL);
  out = out >= 0 ? out : lpt_tfl_w_like (w, "step", x, NULL);
  lpt_tfl_w_op (w, TFL_SELECT_V2, 3, (gint[]) { truth, at, inside }, out);
  return out;
}

/* @out is @inside between the first two of @ends, and beyond them the others, between which it jumps where a run finds
 * that the interval falls or is one number. Returns: @out, or in place of -1 a new tensor. */
static gint
choose_ends (LptTflWriter *w, gint x, gint inside, const gint ends[4], gint out)
{
  gint low = bound (w, TFL_LESS, ends[0], ends[1]), high = bound (w, TFL_GREATER, ends[0], ends[1]);
  inside = beyond (w, TFL_GREATER, x, high, ends[3], inside, -1);
  return beyond (w, TFL_LESS_EQUAL, x, low, ends[2], inside, out);
}

/* Is the upper end of the results lost beside the lower one in single precision: is out low + (out high - out low)
 * another number? */
static gboolean
loses_end (LptTflWriter *w)
{
  LptTensor *low = lpt_node_const_in (w->node, 3), *high = lpt_node_const_in (w->node, 4);
  g_autoptr (LptTensor) width = lpt_fold_binary (LPT_OP_SUBTRACT, high, low, LPT_DTYPE_F32);   /* NULL: not constant */
  g_autoptr (LptTensor) sum = lpt_fold_binary (LPT_OP_ADD, width, low, LPT_DTYPE_F32);
  g_autoptr (LptTensor) off = lpt_fold_binary (LPT_OP_SUBTRACT, sum, high, LPT_DTYPE_F32);
  g_autoptr (LptTensor) share = lpt_fold_binary (LPT_OP_DIVIDE, off, high, LPT_DTYPE_F32);      /* 0 / 0: 0 */
  for (gint64 i = 0; share != NULL && i < lpt_tensor_count (share); i++)
    if (fabs (lpt_tensor_get_f64 (share, i)) > 1e-5)
      return TRUE;
  return FALSE;
}

/* round ((clamp (x) - low) / (high - low) (levels - 1)) / (levels - 1) (out high - out low) + out low; where the ends
 * are computed, or one is lost in the sum, with a choice in place of the clamp */
static void
spell_fake_quantize (LptTflWriter *w, LptTflLayout layout, gint64 levels)
{
  if (!interval_rises (w) || spell_steps (w, layout, levels))
    return;
  gint rank = lpt_node_in (w->node, 0)->shape.rank, x = lpt_tfl_w_in (w, 0, layout), ends[4];
  const LptShape row = lpt_shape_make (1, (gint64[]) { -1 });
  double gauge, end[4];
  gboolean flat = rank > 4;
  for (guint i = 0; i < 4; i++)
    flat = flat && number_in (w, i + 1, &end[i]);
  /* Numbers meet five axes at most: one interval for all sees a row. */
  if (rank > 5 && !flat)
    lpt_tfl_w_fail (w, "intervals of more than five axes");
  for (guint i = 0; i < 4; i++)
    ends[i] = flat ? lpt_tfl_w_f32 (w, "end", end[i]) : lpt_tfl_w_operand (w, i + 1, rank, layout, &gauge);
  if (w->error != NULL)
    return;
  x = flat ? lpt_tfl_w_reshape (w, x, &row, NULL, -1) : x;
  gint steps = lpt_tfl_w_f32 (w, "steps", (double) levels - 1);
  gint width = binary (w, TFL_SUB, ends[1], ends[1], ends[0]);
  gint out_width = binary (w, TFL_SUB, ends[3], ends[3], ends[2]);
  const gboolean clamp = lpt_node_const_in (w->node, 1) != NULL && lpt_node_const_in (w->node, 2) != NULL
                         && !loses_end (w);
  gint v = clamp ? binary (w, TFL_MINIMUM, x, binary (w, TFL_MAXIMUM, x, x, ends[0]), ends[1]) : x;
  v = binary (w, TFL_DIV, x, binary (w, TFL_SUB, x, v, ends[0]), width);
  v = binary (w, TFL_MUL, x, v, steps);
  v = lpt_tfl_w_step (w, TFL_ROUND, "rounded", x, 1, &v);
  v = binary (w, TFL_MUL, x, binary (w, TFL_DIV, x, v, steps), out_width);
  gint out = lpt_tfl_w_out (w, 0, layout, 1);
  const LptShape shape = w->error == NULL ? lpt_tfl_w_get (w, out)->shape : row;
  if (clamp && !flat)
    {
      lpt_tfl_w_op (w, TFL_ADD, 2, (gint[]) { v, ends[2] }, out);
      return;
    }
  v = binary (w, TFL_ADD, x, v, ends[2]);
  v = clamp ? v : choose_ends (w, x, v, ends, flat ? -1 : out);
  if (flat)
    lpt_tfl_w_reshape (w, v, &shape, NULL, out);
}

void
lpt_tfl_write_fake_quantize (LptTflWriter *w, gint64 code)
{
  gint64 levels = LPT_ATTRS (w->node, LptFakeQuantizeAttrs)->levels;
  LptTflLayout layout = layout_of (w);
  double end[2], scale;
  w->real = TRUE;
  if (!lpt_shape_compatible (&lpt_node_in (w->node, 0)->shape, &lpt_node_out (w->node)->shape))
    {
      lpt_tfl_w_fail (w, "intervals that make the data larger");
      return;
    }
  double zero;
  if (levels != 256 || !read_interval (w, levels, end, &scale)
      || !lpt_quantize_whole_zero (end[0], end[1], 256, &zero) || zero < 0 || zero > 255)
    {
      spell_fake_quantize (w, lpt_tfl_w_layout (w), levels);
      return;
    }
  gint x = lpt_tfl_w_in (w, 0, layout), out = lpt_tfl_w_out (w, 0, layout, 1);
  if (w->error != NULL)
    return;
  g_autoptr (LptQuant) quant = lpt_quant_new_one ((float) scale, (gint32) zero - 128);
  LptShape shape = lpt_tfl_w_get (w, out)->shape;
  g_autofree char *name = g_strconcat (w->node->name, "/codes", NULL);
  gint codes = lpt_tfl_w_tensor (w, name, LPT_DTYPE_I8, &shape, quant);
  lpt_tfl_w_op (w, TFL_QUANTIZE, 1, &x, codes);
  lpt_tfl_w_op (w, TFL_DEQUANTIZE, 1, &codes, out);
}
