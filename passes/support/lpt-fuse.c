/* lpt-fuse.c - elementwise arithmetic taken into the intervals of a FakeQuantize
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "ir/lpt-fold.h"
#include "ir/scalar/lpt-binary.h"
#include "passes/support/lpt-fuse.h"

const char *
lpt_fuse_shape_problem (LptNode *op,
                        guint    side)
{
  const LptShape *data = &lpt_node_in (op, 1 - side)->shape;
  const LptShape *out = &op->out[0].shape;
  const LptShape *shape = &lpt_node_in (op, side)->shape;
  gint shift = out->rank - shape->rank;
  gboolean varies = FALSE;
  gint d;

  if (out->rank < 0)
    return "it has a dynamic rank";
  if (lpt_tensor_count (lpt_node_const_in (op, side)) == 1)
    return lpt_shape_equal (data, out) ? NULL : "it broadcasts its data";
  if (!lpt_shape_equal (data, out))
    return "it broadcasts its data";
  if (shift < 0 || shift > 1)
    return "its constant has another rank than its data";
  for (d = 0; d < shape->rank; d++)
    if (shape->dims[d] != 1)
      {
        /* Of two axes, too: nothing has such intervals. */
        if (d + shift >= 2 || varies)
          return "its constant varies along other axes than the channels";
        varies = TRUE;
      }
  if (out->rank > 1 && out->dims[1] < 0)
    return "its constant is per channel and the number of channels is dynamic";

  return NULL;
}

static LptTensor *
apply (LptNode   *op,
       LptTensor *end,
       LptTensor *constant)
{
  return lpt_fold_binary (lpt_binary_inverse (op->op), end, constant, LPT_DTYPE_F32);
}

/* Readers refuse intervals that are not finite, or wider than any number. */
static gboolean
is_interval (LptTensor *low,
             LptTensor *high)
{
  double most = 0;
  gint64 i;

  for (i = 0; i < lpt_tensor_count (low); i++)
    most = MAX (most, fabs (lpt_tensor_get_f64 (low, i)));
  for (i = 0; i < lpt_tensor_count (high); i++)
    most = MAX (most, fabs (lpt_tensor_get_f64 (high, i)));

  return lpt_tensor_is_finite (low) && lpt_tensor_is_finite (high) && most <= lpt_dtype_max (LPT_DTYPE_F32) / 2;
}

/* A part of a step by which the ends may lie beside what they are in real numbers. */
#define STEP_PART 8

/* Does @end, made of @old as move_interval() does, stand for @old, within that part of a step of an interval of @width?
 * Where that is 0 there are no steps. */
static gboolean
is_near (LptNode   *op,
         LptTensor *old,
         LptTensor *end,
         LptTensor *constant,
         LptTensor *width,
         gint64     levels)
{
  g_autoptr (LptTensor) wide = lpt_tensor_convert (end, LPT_DTYPE_F64, NULL);
  g_autoptr (LptTensor) is = lpt_fold_binary (op->op, wide, constant, LPT_DTYPE_F64);
  g_autoptr (LptTensor) error = lpt_fold_binary (LPT_OP_SUBTRACT, is, old, LPT_DTYPE_F64);
  g_autoptr (LptTensor) part = lpt_fold_binary (LPT_OP_DIVIDE, error, width, LPT_DTYPE_F64);
  gint64 i;

  for (i = 0; part != NULL && i < lpt_tensor_count (part); i++)
    {
      double x = fabs (lpt_tensor_get_f64 (part, i));

      if (isfinite (x) && x * STEP_PART * (double) (levels - 1) > 1)
        return FALSE;
    }

  return part != NULL;
}

/* Are the steps of @fq still there when its input interval is @ends, @old before? Far from 0 the ends round to one
 * number. */
static gboolean
keeps_steps (LptNode   *op,
             LptNode   *fq,
             LptTensor *old[2],
             LptTensor *ends[2],
             LptTensor *constant)
{
  const gint64 levels = LPT_ATTRS (fq, LptFakeQuantizeAttrs)->levels;
  g_autoptr (LptTensor) low = lpt_tensor_convert (old[0], LPT_DTYPE_F64, NULL);
  g_autoptr (LptTensor) high = lpt_tensor_convert (old[1], LPT_DTYPE_F64, NULL);
  g_autoptr (LptTensor) width = lpt_fold_binary (LPT_OP_SUBTRACT, high, low, LPT_DTYPE_F64);

  return width != NULL && is_near (op, old[0], ends[0], constant, width, levels) &&
         is_near (op, old[1], ends[1], constant, width, levels);
}

/* The input interval of @fq in front of @op (transfer full). */
static gboolean
move_interval (LptRewriter *rw,
               LptNode     *op,
               LptNode     *fq,
               LptTensor   *constant,
               LptTensor  **low,
               LptTensor  **high)
{
  g_autoptr (LptTensor) old_low = lpt_fold_value (lpt_node_in (fq, 1));
  g_autoptr (LptTensor) old_high = lpt_fold_value (lpt_node_in (fq, 2));

  if (old_low == NULL || old_high == NULL)
    return FALSE;
  *low = apply (op, old_low, constant);
  *high = apply (op, old_high, constant);
  if (*low == NULL || *high == NULL || !is_interval (*low, *high))
    return lpt_rewriter_decline (rw, fq, "%s \"%s\" stays in front: the interval would become infinite",
                                 op->info->name, op->name);
  if (!keeps_steps (op, fq, (LptTensor *[]) { old_low, old_high }, (LptTensor *[]) { *low, *high }, constant))
    return lpt_rewriter_decline (rw, fq, "%s \"%s\" stays in front: rounding would move its interval",
                                 op->info->name, op->name);

  return TRUE;
}

/* In place of @fq: @data on input 0, the given tensors as input interval (NULL = as it is), output interval in f32. */
static LptNode *
replace_input (LptRewriter *rw,
               LptNode     *fq,
               LptValue    *data,
               LptTensor   *low,
               LptTensor   *high)
{
  g_autofree LptValue **in = lpt_layer_inputs (fq);
  LptTensor *tensors[4] = { low, high, NULL, NULL };
  LptDType out = fq->out[0].dtype;
  LptNode *fresh;
  guint k;

  in[0] = data;
  for (k = 0; k < 4; k++)
    {
      static const char *const suffix[4] = { "/input_low", "/input_high", "/output_low", "/output_high" };
      g_autofree char *name = g_strconcat (fq->name, suffix[k], NULL);

      if (tensors[k] != NULL)
        in[k + 1] = lpt_rewriter_const (rw, name, lpt_tensor_ref (tensors[k]));
      else if (in[k + 1]->dtype != LPT_DTYPE_F32 && low != NULL)
        {
          g_autoptr (LptTensor) own = lpt_fold_value (in[k + 1]);

          in[k + 1] = lpt_rewriter_const (rw, name, lpt_tensor_convert (own, LPT_DTYPE_F32, NULL));
        }
    }
  fresh = lpt_layer_clone (rw, fq, 5, in, out);
  lpt_node_take_name (fresh, fq, "/replaced");
  lpt_rewriter_replace (rw, &fq->out[0], &fresh->out[0], NULL);

  return fresh;
}

/* Does @fq, whose type is an integer, round its results to that type? @low, @high: its output interval. */
static gboolean
rounds_results (LptNode   *fq,
                LptTensor *low,
                LptTensor *high)
{
  LptDType dtype = fq->out[0].dtype;
  gint64 steps = LPT_ATTRS (fq, LptFakeQuantizeAttrs)->levels - 1;
  g_autoptr (LptTensor) span = lpt_dtype_is_integer (dtype)
                                   ? lpt_fold_binary (LPT_OP_SUBTRACT, high, low, LPT_DTYPE_F32)
                                   : NULL;
  gint64 i;

  if (!lpt_dtype_is_integer (dtype))
    return FALSE;
  for (i = 0; span != NULL && i < lpt_tensor_count (span); i++)
    if (fmod (lpt_tensor_get_f64 (span, i), (double) steps) != 0)
      return TRUE;
  for (i = 0; i < lpt_tensor_count (low); i++)
    if (lpt_tensor_get_f64 (low, i) != lpt_tensor_get_i64 (low, i) ||
        lpt_tensor_get_f64 (low, i) < lpt_dtype_min (dtype))
      return TRUE;
  for (i = 0; i < lpt_tensor_count (high); i++)
    if (lpt_tensor_get_f64 (high, i) > lpt_dtype_max (dtype))
      return TRUE;

  return span == NULL;
}

/* Does a Convert of real numbers lose digits that f32 has? */
static gboolean
rounds (LptDType from,
        LptDType to)
{
  return lpt_dtype_is_real (from) && lpt_dtype_bits (to) < MIN (lpt_dtype_bits (from), 32);
}

LptNode *
lpt_fuse_above (LptRewriter *rw,
                LptNode     *fq)
{
  gboolean update = lpt_rewriter_config (rw)->update_precisions;
  g_autoptr (LptTensor) low = NULL;
  g_autoptr (LptTensor) high = NULL;
  LptNode *op = lpt_node_src (fq, 0);
  LptTensor *constant;
  LptValue *data;
  const char *problem;
  guint side = 1;

  if (op->flags & LPT_NODE_NO_CLEANUP)
    return NULL;
  if (op->op == LPT_OP_CONVERT)
    {
      const LptDType from = lpt_node_in (op, 0)->dtype, to = op->out[0].dtype;

      if (!lpt_dtype_is_real (to) || from == LPT_DTYPE_I32 || from == LPT_DTYPE_I64 ||
          from == LPT_DTYPE_BOOL || (!update && from != to) || rounds (from, to))
        return NULL;
      return replace_input (rw, fq, lpt_node_in (op, 0), NULL, NULL);
    }
  if ((op->info->flags & LPT_OP_F_AFFINE) == 0)
    return NULL;
  if (lpt_node_is_bias_add (op))
    {
      lpt_rewriter_decline (rw, fq, "Add \"%s\" stays in front: it is a bias", op->name);
      return NULL;
    }
  if (lpt_node_const_in (op, 1) == NULL && (op->info->flags & LPT_OP_F_COMMUTES))
    side = 0;
  constant = lpt_node_const_in (op, side);
  data = lpt_node_in (op, 1 - side);
  if (constant == NULL || lpt_node_is_const (data->producer) || !lpt_dtype_is_real (lpt_tensor_dtype (constant)))
    return NULL;
  if (!update && data->dtype != op->out[0].dtype)
    return NULL;
  problem = lpt_fuse_shape_problem (op, side);
  if (problem != NULL)
    {
      lpt_rewriter_decline (rw, fq, "%s \"%s\" stays in front: %s", op->info->name, op->name, problem);
      return NULL;
    }
  if ((op->info->flags & LPT_OP_F_FACTOR) != 0 && !lpt_tensor_all_above (constant, 0))
    {
      lpt_rewriter_decline (rw, fq, "%s \"%s\" stays in front: a factor is not positive", op->info->name, op->name);
      return NULL;
    }
  if (!move_interval (rw, op, fq, constant, &low, &high))
    return NULL;
  if (lpt_tensor_shape (low)->rank > 1)
    {
      LptTensor *wide = lpt_fold_extend_all (low, fq->out[0].shape.rank);

      lpt_tensor_unref (low);
      low = wide;
    }
  if (lpt_tensor_shape (high)->rank > 1)
    {
      LptTensor *wide = lpt_fold_extend_all (high, fq->out[0].shape.rank);

      lpt_tensor_unref (high);
      high = wide;
    }

  lpt_rewriter_absorbed (rw, op, lpt_node_known_as (fq), "part of the interval of \"%s\"", lpt_node_known_as (fq));

  return replace_input (rw, fq, data, low, high);
}

gboolean
lpt_fuse_below (LptRewriter *rw,
                LptNode     *op)
{
  g_autoptr (LptTensor) low = NULL;
  g_autoptr (LptTensor) high = NULL;
  g_autoptr (LptTensor) old_low = NULL;
  g_autoptr (LptTensor) old_high = NULL;
  g_autofree LptValue **in = NULL;
  LptNode *fq = lpt_node_src (op, 0);
  LptTensor *constant = lpt_node_const_in (op, 1);
  LptBoxValue *interval;
  LptNode *fresh;
  const char *problem;
  guint k;

  if (constant == NULL || !lpt_dtype_is_real (op->out[0].dtype))
    return FALSE;
  if (fq->op == LPT_OP_CONVERT && lpt_value_n_uses (&fq->out[0]) == 1)
    fq = lpt_node_src (fq, 0);
  if (fq->op != LPT_OP_FAKE_QUANTIZE)
    return FALSE;
  if (op->flags & LPT_NODE_NO_CLEANUP)
    return lpt_rewriter_decline (rw, op, "it belongs to an operation that runs on integers");
  if (lpt_value_n_uses (&fq->out[0]) != 1)
    return lpt_rewriter_decline (rw, op, "the FakeQuantize in front has other readers");
  problem = lpt_fuse_shape_problem (op, 1);
  if (problem != NULL)
    return lpt_rewriter_decline (rw, op, "%s", problem);
  old_low = lpt_fold_value (lpt_node_in (fq, 3));
  old_high = lpt_fold_value (lpt_node_in (fq, 4));
  if (old_low == NULL || old_high == NULL)
    return lpt_rewriter_decline (rw, op, "an interval of the FakeQuantize in front is not constant");
  /* Targets that are to give the graphs of OpenVINO give these, too. */
  if (lpt_rewriter_config (rw)->strict && rounds_results (fq, old_low, old_high))
    return lpt_rewriter_decline (rw, op, "the FakeQuantize in front rounds to %s", lpt_dtype_name (fq->out[0].dtype));
  low = lpt_fold_binary (op->op, old_low, constant, LPT_DTYPE_F32);
  high = lpt_fold_binary (op->op, old_high, constant, LPT_DTYPE_F32);
  if (low == NULL || high == NULL)
    return lpt_rewriter_decline (rw, op, "its constant does not fit the interval of the FakeQuantize in front");
  if (!is_interval (low, high))
    return lpt_rewriter_decline (rw, op, "the interval of the FakeQuantize in front would become infinite");

  in = lpt_layer_inputs (fq);
  for (k = 1; k < 5; k++)
    {
      static const char *const suffix[5] = { NULL, "/input_low", "/input_high", "/output_low", "/output_high" };
      g_autofree char *name = g_strconcat (fq->name, suffix[k], NULL);
      g_autoptr (LptTensor) own = k == 3 ? lpt_tensor_ref (low) : k == 4 ? lpt_tensor_ref (high)
                                                                         : lpt_fold_value (in[k]);

      if (k >= 3 || in[k]->dtype != LPT_DTYPE_F32)
        in[k] = lpt_rewriter_const (rw, name, own != NULL ? lpt_tensor_convert (own, LPT_DTYPE_F32, NULL) : NULL);
    }
  fresh = lpt_layer_clone (rw, fq, 5, in, op->out[0].dtype);
  interval = lpt_box (fq->graph, fq->mark.interval);
  if ((op->info->flags & LPT_OP_F_FACTOR) != 0 && interval != NULL && interval->interval.levels != 0)
    LPT_ATTRS (fresh, LptFakeQuantizeAttrs)->levels = (gint64) interval->interval.levels;
  lpt_node_take_name (fresh, fq, "/replaced");
  lpt_rewriter_absorbed (rw, op, lpt_node_known_as (fresh), "part of the interval of \"%s\"",
                         lpt_node_known_as (fresh));
  lpt_rewriter_replace (rw, &op->out[0], &fresh->out[0], NULL);
  lpt_rewriter_visit (rw, fresh);

  return TRUE;
}
