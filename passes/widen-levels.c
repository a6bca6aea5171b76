/* passes/widen-levels.c - FakeQuantize of fewer levels than 8-bit types have
 *
 *     FakeQuantize (x, il, ih, ol, oh) of N levels
 *  => FakeQuantize (min (max (x, il), ih), il - a t, il + (255 - a) t, ol - a s, ol + (255 - a) s) of 256 levels
 *
 * where t = (ih - il) / (N - 1) and s = (oh - ol) / (N - 1) are the steps: levels go on outside of the interval, where
 * no number gets. a is 0, or 128 + ol / s where that makes zero the code 0 of signed ones: ol / s is a negative
 * whole number then. Networks of 2 to 7 bits (Brevitas, QKeras) have such levels.
 *
 * Constant data is rounded first, and bounded by that: its levels may be half as far apart where zero lies in the
 * middle of two, as between -s and s of one bit. Exact in real numbers.
 *
 * Left alone are 15, 16, 255 and 256 levels, which the rules know, and what has integers as its output already.
 *
 * Refused when
 *   - an interval is empty, turned round or infinite, or its steps get lost beside its ends, among them the new ones,
 *     which halves round, or its upper end beside its steps.
 *
 * Golden tests: tests/golden/widen-levels/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "ir/lpt-fold.h"
#include "ir/lpt-quantize-details.h"
#include "passes/core/lpt-rewriter.h"
#include "passes/support/lpt-layer.h"

#define WIDE 256

/* A zero that is nearer to a level than this, in steps, is meant to be one: which levels go on below is chosen by it,
 * and where they lie by the interval itself. */
#define NEAR 1e-3

/* Of a step, by which an end may be rounded: 2^-22 of all levels turns no code but at a tie. */
#define ROUNDED (WIDE / 4194304.0)

/* What makes the codes: @below levels more at the lower end; @parts of a step as new step. */
typedef struct { double below, parts; } Extension;

static gboolean
is_whole (double x)
{
  return fabs (x - rint (x)) < NEAR;
}

static gboolean
steps_are_sound (const float *low,
                 const float *high,
                 guint        n,
                 guint64      levels)
{
  for (guint i = 0; i < n; i++)
    {
      const double step = ((double) high[i] - low[i]) / (double) (levels - 1);

      /* Beside such steps an upper end is rounded away in the formula, which gives it only above the interval. */
      const gboolean lost = high[i] != 0 && fabs (high[i]) * (1 << 22) < step;

      if (!(step > 0) || !isfinite (step) || fabs (low[i]) > step * (1 << 20) || lost)
        return FALSE;
    }
  return TRUE;
}

/* One for all channels: zero is the code 0 of signed integers where it is a level of each below the first. */
static Extension
extension_of (const LptQuantizeDetails *details,
              gboolean                  constant)
{
  const double last = (double) details->levels - 1;
  gboolean whole = TRUE, half = constant;
  double below = 0;

  for (guint i = 0; i < details->n_out; i++)
    {
      const double first = details->out_low[i] / (((double) details->out_high[i] - details->out_low[i]) / last);

      whole = whole && is_whole (first) && first < -NEAR && first >= -128 && first + last <= 127;
      half = half && is_whole (2 * first) && 2 * first >= -128 && 2 * (first + last) <= 127;
      if (i > 0 && rint (2 * first) != below)
        whole = half = FALSE;
      below = rint (2 * first);
    }
  if (whole)
    return (Extension) { 128 + below / 2, 1 };
  if (half && fmod (below, 2) != 0)
    return (Extension) { 128 + below, 2 };
  return (Extension) { 0, 1 };
}

/* low + @part (high - low) of an interval, the input interval or the output interval, as input @input of @fq. NULL: its
 * type rounds an end by more than a little of a step. */
static LptTensor *
end_of (LptNode                  *fq,
        guint                     input,
        const LptQuantizeDetails *details,
        gboolean                  out,
        double                    part)
{
  const float *low = out ? details->out_low : details->in_low, *high = out ? details->out_high : details->in_high;
  const LptShape *shape = out ? &details->out_shape : &details->in_shape;
  const guint n = out ? details->n_out : details->n_in;
  const double last = (double) details->levels - 1;
  g_autofree double *values = g_new (double, n);
  LptTensor *ends;

  for (guint i = 0; i < n; i++)
    values[i] = low[i] + part * ((double) high[i] - low[i]);
  ends = lpt_tensor_from_f64 (lpt_node_in (fq, input)->dtype, shape, values, NULL);
  for (guint i = 0; ends != NULL && i < n; i++)
    if (!(fabs (lpt_tensor_get_f64 (ends, i) - values[i]) <= ROUNDED * ((double) high[i] - low[i]) / last))
      g_clear_pointer (&ends, lpt_tensor_unref);

  return ends;
}

/* Interval ends of 256 levels; FALSE: one does not fit. */
static gboolean
read_ends (LptNode                  *fq,
           const LptQuantizeDetails *details,
           gboolean                  constant,
           LptTensor               **ends)
{
  const Extension more = extension_of (details, constant);
  const double last = (double) details->levels - 1;
  gboolean fit = TRUE;

  for (guint i = 1; i < 5; i++)
    {
      const double code = i % 2 == 0 ? WIDE - 1 - more.below : -more.below;

      ends[i] = end_of (fq, i, details, i > 2 || constant, code / more.parts / last);
      fit = fit && ends[i] != NULL;
    }
  for (guint i = 1; i < 5 && !fit; i++)
    g_clear_pointer (&ends[i], lpt_tensor_unref);

  return fit;
}

/* The data within its interval. */
static LptValue *
bounded (LptRewriter *rw,
         LptNode     *fq)
{
  LptTensor *low = lpt_node_const_in (fq, 1), *high = lpt_node_const_in (fq, 2);
  LptValue *data = lpt_node_in (fq, 0);
  LptNode *node;

  if (low != NULL && high != NULL && lpt_tensor_count (low) == 1 && lpt_tensor_count (high) == 1)
    {
      node = lpt_graph_add (lpt_rewriter_graph (rw), LPT_OP_CLAMP, 0, fq->name, 1, &data);
      LPT_ATTRS (node, LptClampAttrs)->min = lpt_tensor_get_f64 (low, 0);
      LPT_ATTRS (node, LptClampAttrs)->max = lpt_tensor_get_f64 (high, 0);
      return lpt_node_out (lpt_rewriter_infer (rw, node));
    }
  node = lpt_layer_arithmetic (rw, LPT_OP_MAXIMUM, fq->name, data, lpt_node_in (fq, 1), data->dtype, data->dtype);
  node = lpt_layer_arithmetic (rw, LPT_OP_MINIMUM, fq->name, lpt_node_out (node), lpt_node_in (fq, 2), data->dtype,
                               data->dtype);
  return lpt_node_out (node);
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *fq)
{
  const guint64 levels = (guint64) LPT_ATTRS (fq, LptFakeQuantizeAttrs)->levels;
  const gboolean constant = lpt_node_const_in (fq, 0) != NULL;
  g_auto (LptQuantizeDetails) details = { 0 };
  LptTensor *ends[5] = { NULL };
  LptValue *in[5];
  LptNode *fresh;

  if (levels < 2 || levels >= WIDE || lpt_levels_are_supported (levels) || !lpt_dtype_is_real (fq->out[0].dtype) ||
      !lpt_quantize_intervals_are_constant (fq) || !lpt_quantize_details_read (fq, &details))
    return FALSE;
  if (!steps_are_sound (details.in_low, details.in_high, details.n_in, levels) ||
      !steps_are_sound (details.out_low, details.out_high, details.n_out, levels) ||
      !read_ends (fq, &details, constant, ends))
    return lpt_rewriter_decline (rw, fq, "its interval has no steps that levels could be added to");
  in[0] = constant ? lpt_rewriter_const (rw, fq->name, lpt_fold_fake_quantize (fq, fq->out[0].dtype, FALSE))
                   : bounded (rw, fq);
  for (guint i = 1; i < 5; i++)
    in[i] = lpt_rewriter_const (rw, lpt_node_src (fq, i)->name, ends[i]);
  fresh = lpt_layer_clone (rw, fq, 5, in, LPT_DTYPE_UNDEFINED);
  LPT_ATTRS (fresh, LptFakeQuantizeAttrs)->levels = WIDE;
  lpt_node_take_name (fresh, fq, "/levels");
  lpt_rewriter_replace (rw, &fq->out[0], lpt_node_out (fresh), NULL);

  return TRUE;
}

const LptPass lpt_pass_widen_levels = {
  .name      = "widen-levels",
  .doc       = "FakeQuantize of fewer levels than 8-bit types have",
  .stage     = LPT_STAGE_PREPARE,
  .roots     = LPT_ROOTS (LPT_OP_FAKE_QUANTIZE),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT_REAL,
};
