/* passes/pad.c - move dequantization through Pad
 *
 *     Pad ((x - z) s, v)  =>  (Pad (x, v') - z') s'
 *
 * constant mode: where z and s are one number each and a code q of the data's type stands for v, v = (q - z) s, v' is
 * q and they stay as they are: what reads the result finds one scale and one zero point. Else the padded area gets zero
 * point 0 and, for v != 0, scale 1, so that it holds v; constants are padded along the one padded axis, and v' is v in
 * the type of the data. edge, symmetric, reflect: constants that vary along a padded axis are padded the same way.
 * Exact but for what float32 rounded in z, which was made of the ends of an interval: q - z - v / s is 0 to 2^-14.
 *
 * Refused when
 *   - there is no quantization on input 0, or the output has a dynamic rank;
 *   - pads or the pad value are not constant, or a pad is negative;
 *   - constant mode with a zero point (or v != 0) and no code for v: several axes are padded, or a dynamic one, or the
 *     constants vary along another axis;
 *   - v is not an integer in the range of the data's type, nor has a code, and would stand in integer data;
 *   - reflect mode: scale or zero point varies along a padded axis.
 *
 * Golden tests: tests/golden/pad/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "ir/lpt-fold.h"
#include "ir/lpt-memory.h"
#include "passes/support/lpt-layer.h"
#include "passes/support/lpt-same-code.h"

typedef struct
{
  gint     rank, axis;
  gint64   length, begin, end;
  gint64   fill;             /* of lpt_fold_take(): -1 = zero, -2 = one */
  int      mode;
  gboolean spread;           /* one element is repeated along the axis first */
} Padding;

static gint64
source_index (const Padding *padding,
              gint64         i,
              gint64         n)
{
  if (i >= 0 && i < n)
    return i;
  switch (padding->mode)
    {
    case LPT_PAD_EDGE:
      return i < 0 ? 0 : n - 1;
    case LPT_PAD_SYMMETRIC:
      return i < 0 ? -i - 1 : 2 * n - 1 - i;
    case LPT_PAD_REFLECT:
      return i < 0 ? -i : 2 * n - 2 - i;
    default:
      return padding->fill;
    }
}

static LptTensor *
pad_constant (LptTensor     *tensor,
              const Padding *padding)
{
  g_autoptr (LptTensor) wide = lpt_fold_extend_all (tensor, padding->rank);
  g_autofree gint64 *index = NULL;
  gint64 n = padding->length + padding->begin + padding->end, i;

  if (wide != NULL && lpt_tensor_shape (wide)->dims[padding->axis] == 1)
    {
      LptShape shape = *lpt_tensor_shape (wide);
      LptTensor *repeated;

      shape.dims[padding->axis] = padding->length;
      repeated = lpt_fold_broadcast (wide, &shape);
      lpt_tensor_unref (wide);
      wide = repeated;
    }
  if (wide == NULL || n < 0)
    return NULL;
  index = lpt_memory_try ((gsize) n, sizeof *index, NULL);
  if (index == NULL)
    return NULL;
  for (i = 0; i < n; i++)
    index[i] = source_index (padding, i - padding->begin, padding->length);

  return lpt_fold_take (wide, padding->axis, index, n);
}

/* May @tensor be padded along one axis alone? */
static gboolean
fits_one_axis (LptTensor        *tensor,
               const LptDequant *dq,
               const LptInts    *begin,
               const LptInts    *end,
               gint             *axis)
{
  gint rank = dq->data->shape.rank, d;

  *axis = -1;
  for (d = 0; d < rank; d++)
    if (lpt_ints_get (begin, (guint) d, 0) != 0 || lpt_ints_get (end, (guint) d, 0) != 0)
      {
        if (*axis >= 0)
          return FALSE;
        *axis = d;
      }
  if (*axis < 0)
    return TRUE;
  for (d = 0; d < rank; d++)
    if (d != *axis && lpt_dequant_varies (tensor, rank, d))
      return FALSE;

  return dq->data->shape.dims[*axis] >= 0;
}

static gboolean
has_negative (const LptInts *list)
{
  guint i;

  for (i = 0; i < list->n; i++)
    if (list->v[i] < 0)
      return TRUE;

  return FALSE;
}

/* One constant behind the Pad, whose @pads are those at the begin and those at the end; NULL + problem. */
static LptTensor *
new_constant (LptNode          *node,
              const LptDequant *dq,
              LptTensor        *tensor,
              const LptInts     pads[2],
              gint64            fill,
              gboolean          area_differs,
              const char      **problem)
{
  Padding padding = { .rank = dq->data->shape.rank, .fill = fill, .mode = LPT_ATTRS (node, LptPadAttrs)->pad_mode };
  g_autoptr (LptTensor) value = lpt_tensor_ref (tensor);
  gint d;

  if (padding.mode == LPT_PAD_CONSTANT)
    {
      if (!area_differs && lpt_tensor_count (tensor) == 1)
        return g_steal_pointer (&value);
      if (!fits_one_axis (tensor, dq, &pads[0], &pads[1], &padding.axis))
        {
          *problem = "it pads several axes, or another one than scale and zero point vary along";
          return NULL;
        }
      if (padding.axis < 0 || (!area_differs && !lpt_dequant_varies (tensor, padding.rank, padding.axis)))
        return g_steal_pointer (&value);
      padding.length = dq->data->shape.dims[padding.axis];
      padding.begin = lpt_ints_get (&pads[0], (guint) padding.axis, 0);
      padding.end = lpt_ints_get (&pads[1], (guint) padding.axis, 0);
      return pad_constant (tensor, &padding);
    }
  for (d = 0; d < padding.rank; d++)
    {
      LptTensor *padded;

      padding.begin = lpt_ints_get (&pads[0], (guint) d, 0);
      padding.end = lpt_ints_get (&pads[1], (guint) d, 0);
      if ((padding.begin == 0 && padding.end == 0) || !lpt_dequant_varies (tensor, padding.rank, d))
        continue;
      if (padding.mode == LPT_PAD_REFLECT)
        {
          *problem = "it reflects an axis along which scale or zero point varies";
          return NULL;
        }
      padding.axis = d;
      padding.length = dq->data->shape.dims[d];
      padded = pad_constant (value, &padding);
      lpt_tensor_unref (value);
      value = padded;
      if (value == NULL)
        return NULL;
    }

  return g_steal_pointer (&value);
}

/* The code that stands for @fill, where the data has one scale and zero point and one of its type does. */
static gboolean
code_of (const LptDequant *dq,
         double            fill,
         double           *code)
{
  LptTensor *zp = lpt_dequant_zp (dq), *scale = lpt_dequant_scale (dq);
  double z, s, q;

  if (!lpt_dtype_is_low (dq->data->dtype) || (zp != NULL && lpt_tensor_count (zp) != 1) ||
      (scale != NULL && lpt_tensor_count (scale) != 1))
    return FALSE;
  z = zp != NULL ? lpt_tensor_get_f64 (zp, 0) : 0;
  s = scale != NULL ? lpt_tensor_get_f64 (scale, 0) : 1;
  q = rint (fill / s + z);
  if (!(q >= lpt_dtype_min (dq->data->dtype) && q <= lpt_dtype_max (dq->data->dtype)) ||
      !lpt_same_code (fill / s + z, q, dq->data->dtype))
    return FALSE;
  *code = q;

  return TRUE;
}

/* The number that is padded with, in a constant of one element; NAN + problem. */
static double
find_fill (LptNode     *node,
           const char **problem)
{
  LptTensor *value = lpt_node_const_in (node, 3);

  if (lpt_node_in (node, 3) == NULL)
    return 0;
  if (value != NULL && lpt_tensor_count (value) == 1)
    return lpt_tensor_get_f64 (value, 0);
  *problem = "its pad value is not constant";

  return NAN;
}

/* Input 3 becomes @fill in the type of the data. */
static gboolean
set_fill (LptRewriter      *rw,
          LptNode          *node,
          const LptDequant *dq,
          double            fill)
{
  g_autofree char *name = g_strconcat (node->name, "/pad_value", NULL);
  const LptShape one = { .rank = 0 };
  LptTensor *old = lpt_node_const_in (node, 3), *typed;

  if (old == NULL ? fill == 0
                  : lpt_tensor_dtype (old) == dq->data->dtype && lpt_tensor_get_f64 (old, 0) == fill)
    return TRUE;
  typed = lpt_tensor_from_f64 (dq->data->dtype, old != NULL ? lpt_tensor_shape (old) : &one, &fill, NULL);
  if (typed == NULL)
    return FALSE;
  lpt_node_set_input (node, 3, lpt_rewriter_const (rw, name, typed));

  return TRUE;
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  g_autoptr (LptTensor) zp = NULL;
  g_autoptr (LptTensor) scale = NULL;
  LptInts pads[2] = { { 0 } };
  gboolean constant = LPT_ATTRS (node, LptPadAttrs)->pad_mode == LPT_PAD_CONSTANT;
  const char *problem = NULL;
  gboolean coded = FALSE;
  double fill = 0;
  LptDequant dq;
  LptNode *fresh;

  if (!lpt_layer_match_spatial (rw, node, &dq))
    return FALSE;
  if (dq.data->shape.rank < 0)
    return lpt_rewriter_decline (rw, node, "its data has a dynamic rank");
  if (!lpt_node_ints_in (node, 1, &pads[0]) || !lpt_node_ints_in (node, 2, &pads[1]))
    problem = "its pads are not constant";
  else if (has_negative (&pads[0]) || has_negative (&pads[1]))
    problem = "a pad is negative";
  else if (constant)
    fill = find_fill (node, &problem);
  if (problem == NULL && constant)
    coded = code_of (&dq, fill, &fill);
  if (problem == NULL && !coded && lpt_dtype_is_low (dq.data->dtype) &&
      (fill != rint (fill) || fill < lpt_dtype_min (dq.data->dtype) ||
       fill > lpt_dtype_max (dq.data->dtype)))
    problem = "its pad value is no integer of the data's type";
  if (problem == NULL && dq.subtract != NULL)
    {
      zp = new_constant (node, &dq, lpt_dequant_zp (&dq), pads, -1, constant && !coded, &problem);
      if (zp == NULL && problem == NULL)
        problem = "its zero point cannot be padded";
    }
  if (problem == NULL)
    {
      scale = new_constant (node, &dq, lpt_dequant_scale (&dq), pads, -2, constant && !coded && fill != 0, &problem);
      if (scale == NULL && problem == NULL)
        problem = "its scale cannot be padded";
    }
  lpt_ints_clear (&pads[0]);
  lpt_ints_clear (&pads[1]);
  if (problem != NULL)
    return lpt_rewriter_decline (rw, node, "%s", problem);

  if (!set_fill (rw, node, &dq, fill))
    return lpt_rewriter_decline (rw, node, "its pad value is not constant");
  fresh = lpt_dequant_move_after (rw, node, 0, &dq, TRUE, zp, scale);

  return fresh != NULL;
}

const LptPass lpt_pass_pad = {
  .name      = "pad",
  .doc       = "Move dequantization through Pad",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_PAD),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT_REAL,
};
